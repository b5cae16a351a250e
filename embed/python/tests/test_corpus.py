"""The conformance corpus, by the component over the stores."""

import copy
import json
import unittest
from pathlib import Path
from typing import Any, Callable

from acp_sessions import MemoryStore, Storage
from acp_sessions.load import load, usual_cache
from folders import new_stores
from player import Player

CORPUS = Path(__file__).parents[3] / "tests" / "corpus"


class Corpus(unittest.TestCase):
    maxDiff = None

    def held(self, case: dict[str, Any], open_store: Callable[[], Storage] = MemoryStore) -> None:
        played = Player(load(usual_cache()), case, open_store()).play()
        for nth, (wanted, step) in enumerate(zip(case["steps"], played["steps"])):
            self.assertEqual(step, wanted, f"step {nth}")
        self.assertEqual(played["end"], case["end"])

    def test_every_case_comes_out_as_it_was_recorded(self) -> None:
        paths = sorted(CORPUS.rglob("*.json"))
        self.assertGreater(len(paths), 200)
        stores: dict[str, Callable[[], Storage]] = {"in memory": MemoryStore, "in a file": new_stores(self)}
        for path in paths:
            case = json.loads(path.read_text("utf-8"))
            for where, open_store in stores.items():
                with self.subTest(path.relative_to(CORPUS), store=where):
                    self.held(case, open_store)

    def test_a_difference_is_found(self) -> None:
        case = json.loads(next(CORPUS.rglob("*.json")).read_text("utf-8"))
        self.held(case)
        changed = copy.deepcopy(case)
        key = next(iter(changed["end"]["records"]))
        changed["end"]["records"][key] += " "
        with self.assertRaises(AssertionError):
            self.held(changed)
        changed = copy.deepcopy(case)
        step = next(step for step in changed["steps"] if "outputs" in step.get("returns", {}))
        step["returns"]["outputs"].pop()
        with self.assertRaises(AssertionError):
            self.held(changed)


if __name__ == "__main__":
    unittest.main()
