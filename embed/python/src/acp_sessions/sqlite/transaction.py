"""Transactions."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import Iterator, Literal

import apsw

# A reader sees one state of the store from its first read on. A writer takes the writer's lock at once: one that is taken half-way cannot
# be waited for.
Lock = Literal["DEFERRED", "IMMEDIATE", "EXCLUSIVE"]


@contextmanager
def transaction(connection: apsw.Connection, lock: Lock) -> Iterator[None]:
    """One that is kept at its end, and undone where anything is raised in it."""
    connection.execute(f"BEGIN {lock}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite may have undone it by itself, as for a full disk. What keeps it from being undone keeps the next one from
        # beginning, which says so.
        if connection.in_transaction:
            with suppress(apsw.Error):
                connection.execute("ROLLBACK")
        raise
