"""What has changed in a list, by the typed interface."""

import unittest

from acp_sessions import MemoryStore
from acp_sessions.sessions import ListCriteria
from turns import Turns


class Changes(unittest.TestCase):
    def test_what_has_changed_since_a_position_is_told_once(self) -> None:
        turns = Turns(MemoryStore(), "python")
        sessions = turns.engine.sessions
        begun = sessions.changes_since()
        self.assertEqual((begun.sessions, begun.removed, begun.more, begun.read_again), ([], [], False, False))
        session = turns.new()
        told = sessions.changes_since(ListCriteria(archived="shown"), begun.position)
        self.assertEqual([(of.id, of.state, of.cost) for of in told.sessions], [(session, "idle", None)])
        self.assertEqual(sessions.changes_since(position=told.position).sessions, [])
        sessions.delete_session(session)
        gone = sessions.changes_since(position=told.position)
        self.assertEqual((gone.sessions, gone.removed), ([], [session]))


if __name__ == "__main__":
    unittest.main()
