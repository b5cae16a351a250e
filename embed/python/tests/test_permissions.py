"""What permission was asked for, and what was answered, by the typed interface."""

import unittest
from typing import Any

from acp_sessions import MemoryStore
from acp_sessions.sessions import PermissionAnswer, PermissionOption
from turns import Turns


YES = PermissionOption(id="y", name="Yes", kind="allow_once")


class Permissions(unittest.TestCase):
    def answered(self, answer: dict[str, Any]) -> PermissionAnswer:
        turns = Turns(MemoryStore(), "python")
        session = turns.new()
        turns.permit(session, answer)
        [asked] = turns.engine.sessions.read_permissions(session).permissions
        self.assertEqual((asked.tool_call_id, asked.options), ("c", [YES]))
        assert asked.answer is not None
        return asked.answer

    def test_each_outcome_is_told_with_what_there_is_of_it(self) -> None:
        selected = self.answered({"result": {"outcome": {"outcome": "selected", "optionId": "y"}}})
        self.assertEqual(selected.outcome, "selected")
        self.assertEqual(selected.selected, YES)
        cancelled = self.answered({"result": {"outcome": {"outcome": "cancelled"}}})
        self.assertEqual((cancelled.outcome, cancelled.selected, cancelled.failure), ("cancelled", None, None))
        failed = self.answered({"error": {"code": -32603, "message": "no window"}})
        self.assertEqual((failed.outcome, failed.selected), ("failed", None))
        self.assertIn("no window", failed.failure or "")


if __name__ == "__main__":
    unittest.main()
