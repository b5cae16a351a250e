"""How a store in a file comes to each state of the contract (`tests/storage/states`): in SQLite and in its file, as it would elsewhere."""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import Callable

import apsw
from acp_sessions import FileStore, Storage


def turns(test: unittest.TestCase) -> Callable[[Storage, str], None]:
    """What brings a store into a state, for as long as the test lasts."""

    def busy(store: FileStore) -> None:
        """Somebody writes, and does not come to an end."""
        other = apsw.Connection(store._connection.filename)
        test.addCleanup(other.close, True)
        other.execute("BEGIN IMMEDIATE")

    ways = {"full": _fill, "read-only": _forbid, "busy": busy, "damaged": _damage}

    def turn(store: Storage, state: str) -> None:
        assert isinstance(store, FileStore)
        ways[state](store)

    return turn


def _fill(store: FileStore) -> None:
    """No more than what is left on its pages goes into it."""
    connection = store._connection
    connection.pragma("max_page_count", connection.pragma("page_count"))


def _forbid(store: FileStore) -> None:
    store._connection.pragma("query_only", True)


def _damage(store: FileStore) -> None:
    """Overwrites all pages but the first, which says what the file is: that is read when a store is opened."""
    connection = store._connection
    # What was written is in the file and not in its journal from now on.
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    pages, size = connection.pragma("page_count"), connection.pragma("page_size")
    # To close it drops this process's locks, which nobody else is there to miss.
    with Path(connection.filename).open("r+b") as file:
        file.seek(size)
        file.write(b"\xff" * (size * (pages - 1)))
    # Nor is it in memory.
    connection.pragma("shrink_memory")
