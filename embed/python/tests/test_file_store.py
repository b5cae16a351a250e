"""The store in a file: what is refused, whose rights count, and each of its errors."""

import os
import stat
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any, Callable
from unittest import mock

import apsw
import program
from acp_sessions import FileStore, OpenError, StorageError
from acp_sessions.sqlite.opening import check_library
from acp_sessions.sqlite.patience import LEAST, Patience
from acp_sessions.storage import Append, CutLog, DropText, IndexText, Put, TextScope, TextTerm, Write
from count_up import KEY
from folders import folder

ALL = 0xFFFFFFFF
COUNT_UP = Path(__file__).with_name("count_up.py")
# Runs a test's own words as somebody whom the system refuses what it refuses others.
UNPRIVILEGED = """
import os, sys
from acp_sessions import FileStore, OpenError, StorageError
from acp_sessions.storage import Put
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
def read_only(path):
    with FileStore(path) as store:
        assert store.get(["k"]) == ["before"]
        try:
            store.commit([], [Put("k", "after")], "durable")
        except StorageError as error:
            return error.tag
def refused(path):
    try:
        FileStore(path).close()
    except OpenError as error:
        return error.reason
print(globals()[sys.argv[1]](sys.argv[2]))
"""
# The same where files may not grow, which is to SQLite what a full disk is, until they may again.
WITHOUT_ROOM = """
import resource, sys
from acp_sessions import FileStore, StorageError
from acp_sessions.sqlite import awaiting_room
from acp_sessions.storage import Put
awaiting_room.AGAIN = 0
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
with FileStore(sys.argv[1]) as store:
    [before] = store.get(["k"])
    try:
        store.commit([], [Put("k", "after")], "durable")
    except StorageError as error:
        said = error.tag
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    store.commit([], [Put("k", "after")], "durable")
    print(before, said, *store.get(["k"]))
"""


def as_nobody(function: str, path: Path) -> str:
    run = subprocess.run([sys.executable, "-c", UNPRIVILEGED, function, str(path)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def inside(path: Path) -> dict[str, Any]:
    """What a store's file is made of, as SQLite says it."""
    with FileStore(path) as store:
        connection = store._connection
        pragmas = ("application_id", "user_version", "journal_mode", "page_size", "encoding", "auto_vacuum")
        objects = set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))
        settings = set(connection.execute("SELECT * FROM texts_config"))
        return {"objects": objects, "settings": settings, **{name: connection.pragma(name) for name in pragmas}}


class FileStoreTest(unittest.TestCase):
    maxDiff = None

    def setUp(self) -> None:
        self.folder = folder(self)
        self.path = self.folder / "sessions.db"

    def refused(self, path: Path) -> OpenError:
        with self.assertRaises(OpenError) as refused:
            FileStore(path).close()
        return refused.exception

    def told(self, run: Callable[[], Any]) -> StorageError:
        with self.assertRaises(StorageError) as told:
            run()
        return told.exception

    def open(self, busy_for: float = 10) -> FileStore:
        store = FileStore(self.path, busy_for=busy_for)
        self.addCleanup(store.close)
        return store

    def copied(self, name: str) -> Path:
        """The file and its journal as they are by now. Another process copies them: this one would drop its locks."""
        to = self.folder / name
        to.mkdir()
        files = [str(self.path.with_name(self.path.name + side)) for side in ("", "-wal")]
        subprocess.run(["cp", *files, str(to)], check=True)
        return to / self.path.name

    def test_it_makes_the_file_that_the_program_makes(self) -> None:
        theirs = self.folder / "theirs.db"
        with program.Agent(theirs) as agent:
            agent.new()
        self.assertEqual(inside(self.path), inside(theirs))
        self.assertEqual(inside(self.path)["application_id"], int.from_bytes(b"acps", "big"))

    def test_what_was_written_is_there_when_it_is_opened_again(self) -> None:
        with FileStore(self.path) as store:
            store.commit([], [Put("k", "v"), Append("l", 1, "e\0\U0001f600")], "durable")
        with FileStore(self.path) as store:
            self.assertEqual(store.get(["k", "m"]), ["v", None])
            self.assertEqual([entry.value for entry in store.read_log("l", 0, ALL, ALL).entries], ["e\0\U0001f600"])

    def test_a_relative_path_stays_what_it_was(self) -> None:
        before = Path.cwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        with FileStore("sessions.db") as store:
            os.chdir(before)
            store.commit([], [Put("k", "v")], "relaxed")
        with FileStore(self.path) as store:
            self.assertEqual(store.get(["k"]), ["v"])

    def test_a_path_may_begin_with_the_home_folder_as_for_the_program(self) -> None:
        before = Path.cwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        with mock.patch.dict(os.environ, {"HOME": str(self.folder / "home"), "USERPROFILE": str(self.folder / "home")}):
            for path in ("~/a/sessions.db", Path("~") / "sessions.db", "~other/sessions.db", "~"):
                with FileStore(path) as store:
                    store.commit([], [Put("k", "v")], "relaxed")
        made = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}
        self.assertEqual(made, {"home/a/sessions.db", "home/sessions.db", "~other/sessions.db", "~"})

    @unittest.skipIf(os.name != "posix", "rights are others there")
    def test_only_its_owner_has_rights_on_it(self) -> None:
        def rights(path: Path) -> int:
            return stat.S_IMODE(path.stat().st_mode)

        before = os.umask(0)
        try:
            path = self.folder / "a" / "b" / "sessions.db"
            with FileStore(path) as store:
                store.commit([], [Put("k", "v")], "relaxed")
                made = {found.name: rights(found) for found in path.parent.iterdir()}
            self.assertEqual(made, dict.fromkeys(["sessions.db", "sessions.db-wal", "sessions.db-shm"], 0o600))
            self.assertEqual([rights(path.parent), rights(path.parent.parent)], [0o700, 0o700])
            path.chmod(0o664)
            FileStore(path).close()
            self.assertEqual(rights(path), 0o600)
        finally:
            os.umask(before)

    def test_what_is_no_store_is_refused_and_stays_as_it_is(self) -> None:
        other = apsw.Connection(str(self.path))
        other.pragma("journal_mode", "WAL")
        other.execute("CREATE TABLE notes (note TEXT)")
        with self.subTest("a database at work"):
            before = self.copied("before")
            self.assertEqual(self.refused(self.path).reason, "foreign")
            after = self.copied("after")
            for name in (self.path.name, f"{self.path.name}-wal"):
                self.assertEqual((after.parent / name).read_bytes(), (before.parent / name).read_bytes())
        other.close()
        marked = apsw.Connection(str(self.folder / "marked.db"))
        marked.pragma("application_id", 1)
        marked.close()
        contents = {name: (self.folder / name).read_bytes() for name in ("sessions.db", "marked.db")}
        contents |= {"a text": b"no database\n" * 100, "a byte": b"x"}
        for name, content in contents.items():
            with self.subTest(name):
                self.path.write_bytes(content)
                self.assertEqual(self.refused(self.path).reason, "foreign")
                self.assertEqual(self.path.read_bytes(), content)
        self.assertEqual(self.refused(self.folder).reason, "no-file")
        self.assertEqual(self.refused(Path(__file__) / "sessions.db").reason, "create")

    def test_a_store_that_a_crash_has_left_with_its_journal_is_taken_up(self) -> None:
        with FileStore(self.path) as store:
            store.commit([], [Put("k", "v")], "durable")
            left = self.copied("left")
        with FileStore(left) as store:
            self.assertEqual(store.get(["k"]), ["v"])

    def test_a_database_of_others_that_a_crash_has_left_is_refused(self) -> None:
        other = apsw.Connection(str(self.path))
        other.pragma("journal_mode", "WAL")
        other.execute("CREATE TABLE notes (note TEXT)")
        left = self.copied("left")
        other.close()
        before = {path.name: path.read_bytes() for path in left.parent.iterdir()}
        self.assertEqual(sorted(before), [self.path.name, f"{self.path.name}-wal"])
        self.assertEqual(self.refused(left).reason, "foreign")
        self.assertEqual({path.name: path.read_bytes() for path in left.parent.iterdir()}, before)

    def test_a_store_of_a_later_version_is_refused(self) -> None:
        with FileStore(self.path) as store:
            store._connection.pragma("user_version", 99)
        error = self.refused(self.path)
        self.assertEqual(error.reason, "too-new")
        self.assertIn("format 99, this package knows formats up to 4", str(error))

    def test_nothing_is_written_any_more_once_a_later_version_has_changed_the_format(self) -> None:
        store = self.open()
        store.commit([], [Put("k", "v")], "relaxed")
        with FileStore(self.path) as other:
            other._connection.pragma("user_version", 99)
        error = self.told(lambda: store.commit([], [Put("k", "w")], "relaxed"))
        said = "the store has format 99 by now, this package knows formats up to 4: use a newer acp-sessions"
        self.assertEqual((error.tag, error.text), ("unavailable", said))
        self.assertEqual(store.get(["k"]), ["v"])

    def test_a_store_of_an_earlier_version_is_brought_up_to_date(self) -> None:
        with FileStore(self.path) as store:
            store.commit([], [Put("k", "v")], "durable")
            store._connection.execute("DROP TABLE cleaning")
            store._connection.pragma("user_version", 3)
            store._connection.pragma("application_id", 0)
        self.assertEqual(inside(self.path), inside(self.folder / "new.db"))
        with FileStore(self.path) as store:
            self.assertEqual(store.get(["k"]), ["v"])

    def test_an_older_sqlite_is_refused_with_the_reason(self) -> None:
        for version in ("3.51.2", "3.9.0", "3.50.10"):
            with self.assertRaises(OpenError) as refused:
                check_library(version)
            self.assertEqual(refused.exception.reason, "old-sqlite")
            self.assertIn(f"SQLite {version}; 3.51.3 or newer", str(refused.exception))
        for version in ("3.51.3", "3.54.1", "4.0.0"):
            check_library(version)

    def test_processes_that_count_at_once_lose_nothing(self) -> None:
        line = [sys.executable, "-B", str(COUNT_UP), str(self.path), "300"]
        processes = [subprocess.Popen(line) for _ in range(3)]
        self.assertEqual([process.wait() for process in processes], [0, 0, 0])
        self.assertEqual(self.open().get([KEY]), ["900"])

    def test_a_store_that_stays_locked_is_unavailable_and_can_be_read(self) -> None:
        store, other = self.open(busy_for=0.05), self.open()
        store.commit([], [Put("k", "v")], "relaxed")
        other._connection.execute("BEGIN IMMEDIATE")
        error = self.told(lambda: store.commit([], [Put("k", "w")], "relaxed"))
        self.assertEqual((error.tag, error.text), ("unavailable", "another process kept it locked for too long"))
        self.assertEqual(store.get(["k"]), ["v"])
        other._connection.execute("ROLLBACK")
        store.commit([], [Put("k", "w")], "relaxed")
        self.assertEqual(store.get(["k"]), ["w"])

    def test_a_full_store_says_so_and_goes_on_when_there_is_room(self) -> None:
        store = self.open()
        most = store._connection.pragma("page_count") + 10
        store._connection.pragma("max_page_count", most)
        self.assertEqual(self.told(lambda: store.commit([], [Put("k", "v" * 100_000)], "relaxed")).tag, "full")
        self.assertEqual(store.get(["k"]), [None])
        store._connection.pragma("max_page_count", most + 100)
        store.commit([], [Put("k", "v" * 100_000)], "relaxed")

    @unittest.skipIf(os.name != "posix", "rights are others there")
    def test_a_store_that_cannot_be_written_is_read(self) -> None:
        with FileStore(self.path) as store:
            store.commit([], [Put("k", "before")], "relaxed")
        empty = self.folder / "empty.db"
        empty.touch()
        owner = 0o044 if os.geteuid() == 0 else 0
        for path, mode in ((self.path, 0o400), (empty, 0o400), (self.folder, 0o500)):
            path.chmod(mode | owner | (0o011 if path.is_dir() and owner else 0))
        self.addCleanup(self.folder.chmod, 0o700)
        self.assertEqual(as_nobody("read_only", self.path), "read-only")
        self.assertEqual(as_nobody("refused", empty), "empty-read-only")

    @unittest.skipIf(os.name != "posix", "limits are others there")
    def test_a_store_is_read_where_there_is_no_room_and_written_as_soon_as_there_is(self) -> None:
        with FileStore(self.path) as store:
            store.commit([], [Put("k", "before")], "relaxed")
        run = subprocess.run([sys.executable, "-c", WITHOUT_ROOM, str(self.path)], capture_output=True, text=True)
        self.assertEqual((run.stdout.strip(), run.stderr), ("before read-only after", ""))
        with FileStore(self.path) as store:
            self.assertEqual(store.get(["k"]), ["after"])

    def test_a_damaged_store_says_so_and_is_not_made_worse(self) -> None:
        with FileStore(self.path) as store:
            store.commit([], [Put(f"k{nth}", "v" * 1000) for nth in range(100)], "relaxed")
            [(page,)] = store._connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'records'")
        content = bytearray(self.path.read_bytes())
        content[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
        self.path.write_bytes(content)
        store = self.open()
        self.assertEqual(self.told(lambda: store.scan("", "\x80", False, ALL, ALL)).tag, "corrupt")
        self.assertEqual(self.told(lambda: store.commit([], [Put("k", "v")], "relaxed")).tag, "corrupt")
        self.assertEqual(store.log_names(None, ALL), [])

    def test_bytes_that_are_no_text_keep_nobody_from_what_stands_beside_them(self) -> None:
        store = self.open()
        store.commit([], [Append("l", 1, "a"), Put("k", "v")], "relaxed")
        store._connection.execute("UPDATE entries SET value = CAST(x'61ff62' AS TEXT)")
        store._connection.execute("INSERT INTO records VALUES (CAST(x'ff' AS TEXT), 'nobody''s')")
        self.assertEqual([entry.value for entry in store.read_log("l", 0, ALL, ALL).entries], ["a\ufffdb"])
        self.assertEqual([entry.key for entry in store.scan("", "\U0010ffff", False, ALL, ALL).entries], ["k"])

    def test_rows_that_are_out_of_order_in_the_file_do_not_lead_round_in_circles(self) -> None:
        with FileStore(self.path) as store:
            store.commit([], [Append(f"name-{nth}", 1, "") for nth in range(3)], "relaxed")
        content = self.path.read_bytes()
        # In the index of the names alone: the table's own rows have what stands before a name apart.
        [at] = [at for at in range(len(content)) if content[at : at + 6] == b"name-1" and content[at + 6] == 2]
        self.path.write_bytes(content[:at] + b"nama-1" + content[at + 6 :])
        self.assertEqual(self.told(lambda: self.open().log_names(None, ALL)).tag, "corrupt")

    def test_a_store_whose_file_was_taken_away_writes_no_more(self) -> None:
        store = self.open()
        self.path.rename(self.folder / "elsewhere.db")
        error = self.told(lambda: store.commit([], [Put("k", "v")], "relaxed"))
        self.assertEqual(error.tag, "unavailable")
        self.assertIn("was removed or replaced", error.text or "")
        FileStore(self.path).close()
        self.assertEqual(self.told(lambda: store.commit([], [Put("k", "v")], "relaxed")).tag, "unavailable")

    def test_a_commit_that_fails_leaves_nothing_behind(self) -> None:
        store = self.open()
        writes: list[Write] = [Append("l", 1, "a"), CutLog("m", 1), Append("l", 3, "c")]
        self.assertEqual(self.told(lambda: store.commit([], writes, "relaxed")).tag, "conflict")
        self.assertEqual((store.log_names(None, ALL), store.log_end("l")), ([], 0))

    def test_a_word_is_found_behind_more_texts_than_are_read_for_it(self) -> None:
        store = self.open()
        store.commit([], [IndexText("o", part, f"word{part} " + "x" * 10_000) for part in range(9)], "relaxed")
        for until, found in ((7, None), (8, 8), (100, 8)):
            self.assertEqual(store.find_text(TextTerm(["word8"], False), [TextScope("o", until)]), [found])

    def test_cleaning_leaves_nothing_in_gaps_and_in_the_journal(self) -> None:
        store = self.open()

        def holds_it(when: str) -> bool:
            # The journal's pages are in the file too.
            store._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            copy = self.copied(when)
            return any(b"xylophone" in path.read_bytes() for path in copy.parent.iterdir())

        # Rows move from page to page, and leave copies behind, as many logs grow and some go.
        for seq in range(1, 9):
            for log in range(60):
                text = f"{'xylophone' if log % 3 else 'other'}{log * 7919} " + "again and again " * (log % 7 * 3)
                writes: list[Write] = [Append(f"log-{log}", seq, text), IndexText(f"log-{log}", seq, text.strip())]
                store.commit([], writes, "relaxed")
        for log in range(60):
            if log % 3:
                store.commit([], [CutLog(f"log-{log}", 1), DropText(f"log-{log}", 0)], "relaxed")
        # The search index has its words still, unless it is made anew.
        store._connection.execute("INSERT INTO texts (texts) VALUES ('rebuild')")
        store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self.assertTrue(holds_it("before"))
        self.assertTrue(store.clean())
        self.assertFalse(holds_it("after"))
        self.assertEqual(store.log_names(None, ALL), sorted(f"log-{log}" for log in range(0, 60, 3)))
        self.assertEqual(store.find_text(TextTerm(["other0"], False), [TextScope("log-0", 9)]), [1])

    def test_cleaning_is_not_done_while_another_reads_the_journal(self) -> None:
        store, other = self.open(busy_for=0.05), self.open()
        store.commit([], [Put("k", "v"), CutLog("l", 1)], "relaxed")
        other._connection.execute("BEGIN")
        self.assertEqual(other.scan("", "z", False, 1, 1).entries[0].key, "k")
        self.assertFalse(store.clean())
        other._connection.execute("ROLLBACK")
        self.assertTrue(store.clean())

    def test_a_term_is_text_and_no_language(self) -> None:
        store = self.open()
        for tokens in (['"'], ["a*"], ["x", "OR", "y"], ["tokens:x"], ["^"], ["NEAR("]):
            for prefix in (False, True):
                self.assertEqual(store.search_text(TextTerm(tokens, prefix), None, 10), [])

    def test_what_is_waited_in_a_row_does_not_add_up_and_time_restores_it(self) -> None:
        now, waits = 0.0, []
        patience = Patience(10, now)
        for pause in (0, 0, 0, 3, 60):
            now += pause
            waits.append(patience.begin(now))
            now += waits[-1]
            patience.end(now, False)
        self.assertEqual(waits, [10, LEAST, LEAST, 3, 10])
        self.assertEqual(Patience(0, now).begin(now), 0)

    def test_who_gets_on_is_not_refused_for_having_waited_often(self) -> None:
        now, waits = 0.0, []
        patience = Patience(10, now)
        for _ in range(5):
            waits.append(patience.begin(now))
            now += 4
            patience.end(now, True)
        self.assertEqual(waits, [10, 6, 5, 5, 5])
        # One that waits in vain has used up what there was.
        now += patience.begin(now)
        patience.end(now, False)
        self.assertEqual(patience.begin(now), LEAST)

    def test_a_commit_tells_its_patience_whether_it_had_what_it_waited_for(self) -> None:
        store, other = self.open(busy_for=0.2), self.open()
        # When each wait begins, and when it is over.
        moments = iter([0.0, 0.19, 0.19, 0.29, 0.29, 0.39, 0.39, 0.40])
        with mock.patch("acp_sessions.sqlite.store.time", mock.Mock(monotonic=lambda: next(moments))):
            store._patience = Patience(0.2, 0.0)
            waits = []
            for is_locked in (False, False, True, False):
                if is_locked:
                    other._connection.execute("BEGIN IMMEDIATE")
                    self.assertEqual(self.told(lambda: store.commit([], [], "relaxed")).tag, "unavailable")
                    other._connection.execute("ROLLBACK")
                else:
                    store.commit([], [], "relaxed")
                waits.append(store._connection.pragma("busy_timeout"))
        self.assertEqual(waits, [200, 100, 100, 50])


if __name__ == "__main__":
    unittest.main()
