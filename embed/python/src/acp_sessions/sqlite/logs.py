"""Long series of entries with dense numbers."""

from __future__ import annotations

from typing import Iterator, Optional

import apsw

from ..storage import LogEntry, LogPage, StorageError
from .reading import asked, bounded, readable, row, rows

# A log's number times this, plus an entry's number, is the entry's row.
_ENTRIES_PER_LOG = 1 << 32
# The last number an entry can have.
_LAST_SEQ = 2**32 - 2
_LAST_ROW = 2**63 - 1


def _find(connection: apsw.Connection, log: str) -> Optional[int]:
    """The first row that a log's entries may have."""
    found = row(connection, "SELECT id FROM logs WHERE name = ?", log)
    return None if found is None else int(found[0]) * _ENTRIES_PER_LOG


def _create(connection: apsw.Connection, log: str) -> int:
    connection.execute("INSERT INTO logs (name) VALUES (?)", (log,))
    number = connection.last_insert_rowid()
    if number >= _LAST_ROW // _ENTRIES_PER_LOG:
        raise StorageError("too-large")
    return number * _ENTRIES_PER_LOG


def _last(first: int) -> int:
    return first + _ENTRIES_PER_LOG - 1


def _end_of(connection: apsw.Connection, first: int) -> int:
    statement = "SELECT id FROM entries WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1"
    found = row(connection, statement, first, _last(first))
    return 0 if found is None else int(found[0]) % _ENTRIES_PER_LOG


def end(connection: apsw.Connection, log: str) -> int:
    """The number of the last entry; 0 where there is none."""
    first = _find(connection, log)
    return 0 if first is None else _end_of(connection, first)


def read(connection: apsw.Connection, log: str, start: int, limit: int, max_bytes: int) -> LogPage:
    first = _find(connection, log)
    if first is None:
        return LogPage([], False)

    def entries(first: int) -> Iterator[Optional[tuple[LogEntry, int]]]:
        statement = "SELECT id, CAST(value AS BLOB) FROM entries WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"
        for place, value in rows(connection, statement, first + start, _last(first), asked(limit)):
            is_of_log = first <= place <= _last(first)
            yield (LogEntry(place - first, readable(value)), len(value)) if is_of_log else None

    def is_next(before: Optional[LogEntry], entry: LogEntry) -> bool:
        return entry.seq >= start if before is None else entry.seq > before.seq

    return LogPage(*bounded(entries(first), limit, max_bytes, is_next))


def append(connection: apsw.Connection, log: str, seq: int, value: str) -> None:
    """Adds an entry; a conflict unless its number is the next, and too large where there is no next."""
    found = _find(connection, log)
    first = _create(connection, log) if found is None else found
    last = _end_of(connection, first)
    if last >= _LAST_SEQ:
        raise StorageError("too-large")
    if seq != last + 1:
        raise StorageError("conflict")
    connection.execute("INSERT INTO entries (id, value) VALUES (?, ?)", (first + seq, value))


def amend(connection: apsw.Connection, log: str, seq: int, value: str) -> None:
    """Replaces the last entry; a conflict unless it is the last."""
    first = _find(connection, log)
    if first is None or seq == 0 or seq != _end_of(connection, first):
        raise StorageError("conflict")
    connection.execute("UPDATE entries SET value = ?2 WHERE id = ?1", (first + seq, value))


def restore(connection: apsw.Connection, log: str, seq: int, value: str) -> None:
    """Puts an entry at a number up to the last, whatever stands there; a conflict beyond."""
    first = _find(connection, log)
    if first is None or seq == 0 or seq > _end_of(connection, first):
        raise StorageError("conflict")
    connection.execute("INSERT OR REPLACE INTO entries (id, value) VALUES (?, ?)", (first + seq, value))


def cut(connection: apsw.Connection, log: str, start: int) -> None:
    """Drops the entries from a number on, and with the first of them the log."""
    first = _find(connection, log)
    if first is None:
        return
    connection.execute("DELETE FROM entries WHERE id BETWEEN ? AND ?", (first + start, _last(first)))
    if start <= 1:
        connection.execute("DELETE FROM logs WHERE id = ?", (first // _ENTRIES_PER_LOG,))
