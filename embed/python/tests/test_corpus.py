"""The conformance corpus, by the component over the store in memory."""

import copy
import json
import unittest
from pathlib import Path
from typing import Any

from acp_sessions.load import load, usual_cache
from player import Player

CORPUS = Path(__file__).parents[3] / "tests" / "corpus"


class Corpus(unittest.TestCase):
    maxDiff = None

    def held(self, case: dict[str, Any]) -> None:
        played = Player(load(usual_cache()), case).play()
        for nth, (wanted, step) in enumerate(zip(case["steps"], played["steps"])):
            self.assertEqual(step, wanted, f"step {nth}")
        self.assertEqual(played["end"], case["end"])

    def test_every_case_comes_out_as_it_was_recorded(self) -> None:
        paths = sorted(CORPUS.rglob("*.json"))
        self.assertGreater(len(paths), 200)
        for path in paths:
            with self.subTest(path.relative_to(CORPUS)):
                self.held(json.loads(path.read_text("utf-8")))

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
