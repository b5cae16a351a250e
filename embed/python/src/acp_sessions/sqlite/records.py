"""Small values, ordered by key."""

from __future__ import annotations

from typing import Iterator, Optional

import apsw

from ..storage import Entry, Expectation, RecordPage, StorageError
from .reading import bounded, name, readable, row, rows

# Bytes of values that are given at once: several of the longest.
_MOST = 256 << 20

_VALUE = "SELECT CAST(value AS BLOB) FROM records WHERE key = ?"
_RANGE = "SELECT CAST(key AS BLOB), CAST(value AS BLOB) FROM records WHERE key >= ? AND key < ? ORDER BY key"


def get(connection: apsw.Connection, keys: list[str]) -> list[Optional[str]]:
    left = _MOST
    values: list[Optional[str]] = []
    for key in keys:
        found = row(connection, _VALUE, key)
        if found is not None:
            left -= len(found[0])
        if left < 0:
            raise StorageError("too-large")
        values.append(None if found is None else readable(found[0]))
    return values


def scan(
    connection: apsw.Connection, start: str, end: str, descending: bool, limit: int, max_bytes: int
) -> RecordPage:
    def entries() -> Iterator[Optional[tuple[Entry, int]]]:
        for key, value in rows(connection, f"{_RANGE} DESC" if descending else _RANGE, start, end):
            text = name(key)
            yield None if text is None else (Entry(text, readable(value)), len(key) + len(value))

    def is_next(before: Optional[Entry], entry: Entry) -> bool:
        if before is None:
            return start <= entry.key < end
        return entry.key < before.key if descending else entry.key > before.key

    return RecordPage(*bounded(entries(), limit, max_bytes, is_next))


def check(connection: apsw.Connection, expected: list[Expectation]) -> None:
    """A conflict unless all of these hold."""
    for expectation in expected:
        found = row(connection, _VALUE, expectation.key)
        if (None if found is None else readable(found[0])) != expectation.value:
            raise StorageError("conflict")


def put(connection: apsw.Connection, key: str, value: str) -> None:
    statement = "INSERT INTO records (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    connection.execute(statement, (key, value))


def remove(connection: apsw.Connection, key: str) -> None:
    connection.execute("DELETE FROM records WHERE key = ?", (key,))
