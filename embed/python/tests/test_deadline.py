"""What an instance may use up is bounded: an engine that does what it should not (`tests/hostile`)."""

import json
import os
import unittest
from pathlib import Path
from typing import Any

from acp_sessions import Arrival, Engine, EngineError, MemoryStore
from acp_sessions.load import Loaded, usual_cache

USUAL = Path(__file__).parents[3] / "target" / "hostile" / "engine.wasm"
HOSTILE = Path(os.environ.get("HOSTILE_ENGINE", USUAL))
MIB = 1 << 20


class Bounds(unittest.TestCase):
    loaded: Loaded

    @classmethod
    def setUpClass(cls) -> None:
        cls.loaded = Loaded(HOSTILE.read_bytes(), usual_cache())

    def setUp(self) -> None:
        self.warnings: list[str] = []
        self.engine = Engine(
            MemoryStore(),
            seconds=1,
            memory=64 * MIB,
            output=8 * MIB,
            memos=8 * MIB,
            warn=self.warnings.append,
            loaded=self.loaded,
        )

    def ask(self, id: int, method: str, what: str = "") -> list[Any]:
        request = {"jsonrpc": "2.0", "id": id, "method": method, "params": {"what": what}}
        outputs = self.engine.receive([Arrival("client", json.dumps(request))]).outputs
        return [json.loads(output.line) for output in outputs]

    def test_a_call_that_does_not_end_or_takes_too_much_loses_its_instance_alone(self) -> None:
        self.ask(0, "initialize")
        for nth, what in enumerate(["loop", "trap", "memory", "recursion", "output", "memos"], 1):
            with self.subTest(what):
                answers = self.ask(nth, "hostile/receive", what)
                codes = {answer["id"]: answer["error"]["code"] for answer in answers if "error" in answer}
                self.assertEqual(codes.get(nth), -32603)
                [answer] = [answer for answer in self.ask(100 + nth, "hostile/count") if "result" in answer]
                self.assertEqual(answer["result"]["lost"], nth)
        self.assertIn("interrupt", self.warnings[0])

    def test_what_does_not_end_as_time_passes_is_stopped_too(self) -> None:
        self.ask(1, "hostile/idle", "loop")
        self.engine.idle()
        answers = [json.loads(output.line) for output in self.engine.pull().outputs]
        self.assertEqual([answer["error"]["code"] for answer in answers if answer.get("id") == 1], [-32603])

    def test_an_engine_that_never_starts_again_is_at_an_end(self) -> None:
        self.ask(1, "hostile/forever")
        with self.assertRaises(EngineError):
            self.ask(2, "hostile/receive", "trap")


if __name__ == "__main__":
    unittest.main()
