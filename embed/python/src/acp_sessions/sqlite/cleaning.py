"""
Seeing to it that what was removed is nowhere in the file. SQLite overwrites a row as it is deleted; the search index has its words still, pages
have copies of rows in their gaps, and the journal has pages as they were (`host/src/store/sqlite/cleaning.rs`). The program cleans page by
page, which apsw's SQLite does not let us do. So either it does, as the store's table says that there is something to do, or all is written anew.
"""

from __future__ import annotations

import time

import apsw

from .reading import row
from .transaction import transaction


def note(connection: apsw.Connection) -> None:
    """Notes that the commit that this is a part of removes something."""
    connection.execute(
        "UPDATE cleaning SET removed = removed + 1, last = ?1, first = CASE first WHEN 0 THEN ?1 ELSE first END",
        (round(time.time() * 1000),),
    )


def clean(connection: apsw.Connection) -> bool:
    """Writes all anew. Returns whether nothing is left of what was removed before."""
    [removed] = row(connection, "SELECT removed FROM cleaning")
    with transaction(connection, "IMMEDIATE"):
        connection.execute("INSERT INTO texts (texts) VALUES ('rebuild')")
    connection.execute("VACUUM")
    is_busy, *_ = row(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
    if is_busy:
        return False
    # Whatever slice of a pass another process was at: there is nothing more to do for it, but for what was removed meanwhile.
    connection.execute(
        "UPDATE cleaning SET covered = max(covered, ?1), stage = 0, place = 0, due = 0, "
        "first = CASE removed WHEN ?1 THEN 0 ELSE first END",
        (removed,),
    )
    return True
