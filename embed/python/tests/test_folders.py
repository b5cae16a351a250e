"""What is known of folders, by whoever has a file system: the engine asks for it."""

import json
import unittest
from typing import Any, Optional

from acp_sessions import Arrival, Engine, Folders, ListCriteria, MemoryStore, Peer, Refused, Repository
from acp_sessions.sessions import NotedFolder


class Known(Folders):
    def worktrees(self, cwd: str) -> list[str]:
        return ["/wt/x"] if cwd == "/home/x" else []

    def repository_of(self, cwd: str) -> Optional[Repository]:
        return Repository("abc", 1) if cwd == "/home/x" else None


class FindingOut(Folders):
    known: Optional[list[str]] = None

    def worktrees(self, cwd: str) -> Optional[list[str]]:
        return self.known


LIST = {"cwd": "/home/x", "includeWorktrees": True}


class TwoWorktrees:
    """Two sessions in corresponding directories of two worktrees."""

    def __init__(self, folders: Folders) -> None:
        self.now = 1_760_000_000.0
        self.engine = Engine(MemoryStore(), now=lambda: self.now, folders=folders)
        self.say("client", id=0, method="initialize", params={"protocolVersion": 1})
        info = {"name": "a", "version": "1"}
        self.say("agent", id=0, result={"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": info})
        for name, cwd in [("s1", "/home/x"), ("s2", "/wt/x")]:
            self.say("client", id=name, method="session/new", params={"cwd": cwd, "mcpServers": []})
            self.say("agent", id=name, result={"sessionId": name})
            self.now += 1
            self.engine.idle()

    def say(self, peer: Peer, **message: Any) -> list[Any]:
        step = self.engine.receive([Arrival(peer, json.dumps({"jsonrpc": "2.0", **message}))])
        return [json.loads(output.line) for output in step.outputs]

    def listed(self) -> list[str]:
        [answer] = self.say("client", id=1, method="session/list", params=LIST)
        return [row["sessionId"] for row in answer["result"]["sessions"]]


class KnownFolders(unittest.TestCase):
    def test_worktrees_are_listed_together_and_repositories_noted(self) -> None:
        scene = TwoWorktrees(Known())
        self.assertEqual(scene.listed(), ["s2", "s1"])
        page = scene.engine.sessions.list_sessions(ListCriteria(cwds=["/home/x"], include_worktrees=True))
        self.assertEqual([session.id for session in page.sessions], ["s2", "s1"])
        self.assertEqual(scene.engine.sessions.folders_of("abc"), [NotedFolder("/home/x", "/home")])

    def test_a_list_waits_until_it_is_known_which_worktrees_there_are(self) -> None:
        folders = FindingOut()
        scene = TwoWorktrees(folders)
        self.assertEqual(scene.say("client", id=1, method="session/list", params=LIST), [])
        criteria = ListCriteria(cwds=["/home/x"], include_worktrees=True)
        with self.assertRaises(Refused) as refused:
            scene.engine.sessions.list_sessions(criteria)
        self.assertEqual(refused.exception.tag, "not-yet")
        again = scene.engine.idle()
        assert again is not None
        self.assertLess(again, 100)
        folders.known = ["/wt/x"]
        scene.engine.idle()
        [output] = scene.engine.pull().outputs
        self.assertEqual([row["sessionId"] for row in json.loads(output.line)["result"]["sessions"]], ["s2", "s1"])
        self.assertEqual(len(scene.engine.sessions.list_sessions(criteria).sessions), 2)

    def test_nothing_is_known_where_nobody_tells(self) -> None:
        scene = TwoWorktrees(Folders())
        self.assertEqual(scene.listed(), ["s1"])
        self.assertEqual(scene.engine.sessions.folders_of("abc"), [])

    def test_sessions_follow_a_folder_that_has_moved(self) -> None:
        sessions = TwoWorktrees(Folders()).engine.sessions
        [moved] = sessions.move_sessions("/home", "/srv").sessions
        self.assertEqual((moved.id, moved.old_cwd, moved.new_cwd), ("s1", "/home/x", "/srv/x"))


if __name__ == "__main__":
    unittest.main()
