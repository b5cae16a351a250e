"""The package and the program `acp-sessions` work on one file: in turn, and at once."""

import json
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from typing import Any, Callable, Optional

import program
from acp_sessions import FileStore, ListCriteria, Sessions
from folders import folder
from turns import TURNS, Turns

WORKER = Path(__file__).with_name("turns.py")
# How many sessions each of those has that are at work at once.
SESSIONS = 9


def prompts(updates: list[Any]) -> list[str]:
    return [update["content"]["text"] for update in updates if update["sessionUpdate"] == "user_message_chunk"]


def prompts_in(sessions: Sessions, session: str) -> list[str]:
    return prompts([json.loads(update.update) for update in sessions.read_transcript(session, limit=1000).updates])


class Worker:
    """A process of Python's that has turns in the store."""

    def __init__(self, store: Path, name: str, count: int) -> None:
        line = [sys.executable, "-B", str(WORKER), str(store), name, str(count)]
        self._process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None and self._process.stdout.readline() == "ready\n"

    def go(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.close()

    def hear(self, until: Optional[int] = None) -> dict[str, list[str]]:
        """What it says of its sessions that it has kept. It is killed when it has said so many things."""
        assert self._process.stdout is not None
        kept: dict[str, list[str]] = {}
        for nth, line in enumerate(self._process.stdout, 1):
            session, *text = json.loads(line)
            if text:
                kept.setdefault(session, []).append(text[0])
            else:
                del kept[session]
            if nth == until:
                self._process.kill()
                break
        self._process.stdout.close()
        assert (self._process.wait() == 0) == (until is None)
        return kept


def program_at_work(store: Path, ready: threading.Barrier) -> dict[str, list[str]]:
    """The same turns by the program."""
    kept: dict[str, list[str]] = {}
    with program.Agent(store) as agent:
        ready.wait()
        for nth in range(SESSIONS):
            session = agent.new()
            texts = [f"program {nth} {turn}" for turn in range(TURNS)]
            for text in texts:
                agent.prompt(session, text)
            if nth % 3 == 2:
                agent.ask("session/delete", sessionId=session)
            else:
                kept[session] = texts
    return kept


class Shared(unittest.TestCase):
    maxDiff = None

    def setUp(self) -> None:
        self.path = folder(self) / "sessions.db"

    def test_what_one_has_written_the_other_reads_in_turn(self) -> None:
        with program.Agent(self.path) as agent, FileStore(self.path) as store:
            theirs = agent.new()
            agent.prompt(theirs, "the first words, by the program")
            turns = Turns(store, "python")
            sessions = turns.engine.sessions
            self.assertEqual(prompts_in(sessions, theirs), ["the first words, by the program"])
            ours = turns.new()
            turns.prompt(ours, "the second words, by Python")
            sessions.rename_session(theirs, "Named by Python")
            listed = {one["sessionId"]: one for one in agent.ask("session/list")["sessions"]}
            self.assertEqual(listed[theirs]["title"], "Named by Python")
            self.assertIn(ours, listed)
            agent.prompt(theirs, "the third words, by the program")
            found = sessions.list_sessions(ListCriteria(search='"third words"'))
            self.assertEqual([session.id for session in found.sessions], [theirs])
        self.assertEqual({one["sessionId"] for one in program.told("list", self.path)}, {theirs, ours})
        [found_by_program] = program.told("list", self.path, "--search", "second")
        self.assertEqual(found_by_program["sessionId"], ours)
        self.assertEqual(prompts(program.told("show", self.path, ours)), ["the second words, by Python"])
        program.run("delete", self.path, theirs)
        with FileStore(self.path) as store:
            listed_here = Turns(store, "again").engine.sessions.list_sessions()
            self.assertEqual([session.id for session in listed_here.sessions], [ours])
        program.find_nothing_wrong(self, self.path)

    def test_nothing_is_lost_where_processes_of_both_kinds_are_at_work_at_once(self) -> None:
        workers = [Worker(self.path, name, SESSIONS) for name in ("first", "second")]
        killed = Worker(self.path, "killed", 1000)

        def go() -> None:
            for worker in (*workers, killed):
                worker.go()

        ready = threading.Barrier(2, action=go)
        heard: list[dict[str, list[str]]] = []
        errors: list[BaseException] = []

        def run(work: Callable[[], dict[str, list[str]]]) -> None:
            try:
                heard.append(work())
            except BaseException as error:
                errors.append(error)

        works: list[Callable[[], dict[str, list[str]]]] = [worker.hear for worker in workers]
        # It has told of six sessions by then, and that two of them are deleted.
        works += [lambda: killed.hear(until=20), *(2 * [lambda: program_at_work(self.path, ready)])]
        threads = [threading.Thread(target=run, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])
        kept = {session: texts for of in heard for session, texts in of.items()}
        self.assertEqual(len(kept), 4 * SESSIONS * 2 // 3 + 4)
        with FileStore(self.path) as store:
            sessions = Turns(store, "reader").engine.sessions
            listed = [session.id for session in sessions.list_sessions(limit=1000).sessions]
            found = {session: prompts_in(sessions, session) for session in listed}
        # What the killed one went on with was not told.
        more = set(found) - set(kept)
        self.assertEqual([session for session in more if not session.startswith("killed-")], [])
        self.assertEqual({session: found.get(session) for session in kept}, kept)
        program.find_nothing_wrong(self, self.path)

    def with_a_secret_deleted(self) -> FileStore:
        """A store with other sessions, one that goes on, and one less."""
        store = FileStore(self.path)
        self.addCleanup(store.close)
        turns = Turns(store, "python")
        for nth in range(30):
            turns.prompt(turns.new(), f"other words {nth}")
        # A new file is looked through once in any case.
        program.run("prune", self.path, "--older-than", "999d")
        session = turns.new()
        turns.prompt(session, "xylophone quixotry")
        turns.delete(session)
        return store

    def holds_the_secret(self) -> bool:
        content = b"".join(path.read_bytes() for path in self.path.parent.iterdir())
        self.assertIn(b"other words 7", content)
        return b"xylophone" in content

    def test_what_is_deleted_here_is_cleaned_out_of_the_file_by_the_program(self) -> None:
        self.with_a_secret_deleted().close()
        self.assertTrue(self.holds_the_secret())
        program.run("prune", self.path, "--older-than", "999d")
        self.assertFalse(self.holds_the_secret())
        program.find_nothing_wrong(self, self.path)

    def test_what_is_deleted_here_can_be_cleaned_out_of_the_file_at_once(self) -> None:
        store = self.with_a_secret_deleted()
        with program.Agent(self.path) as agent:
            theirs = agent.new()
            agent.prompt(theirs, "by the program")
            self.assertTrue(store.clean())
            agent.prompt(theirs, "and after it")
            self.assertEqual(len(Turns(store, "reader").engine.sessions.list_sessions(ListCriteria(search="words 7")).sessions), 1)
        [left] = store._connection.execute("SELECT removed - covered, stage, first FROM cleaning")
        self.assertEqual(left, (0, 0, 0))
        store.close()
        self.assertFalse(self.holds_the_secret())
        program.find_nothing_wrong(self, self.path)


if __name__ == "__main__":
    unittest.main()
