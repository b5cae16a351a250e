"""Search in texts, by SQLite's FTS5."""

from __future__ import annotations

from typing import Iterator, Optional

import apsw

from ..storage import StorageError, TextHit, TextPage, TextPart, TextScope, TextTerm
from .errors import disorder
from .phrase import Phrase, is_longer_prefix, literal, query
from .reading import asked, bounded, readable, row, rows

# An owner's number times this, plus the part, is the text's row.
_PARTS_PER_OWNER = 1 << 28
_LAST_ROW = 2**63 - 1

# How many bytes of texts are read before the index is asked: to set a search up takes it longer than this.
_READ_AT_MOST = 32 * 1024


def _row_of(owner: int, part: int) -> int:
    """The row of a part. Numbers past the last possible one all give the row behind the owner's."""
    return owner * _PARTS_PER_OWNER + min(part, _PARTS_PER_OWNER)


def _last_row(owner: int) -> int:
    return _row_of(owner + 1, 0) - 1


def _find_owner(connection: apsw.Connection, name: str) -> Optional[int]:
    found = row(connection, "SELECT id FROM owners WHERE name = ?", name)
    return None if found is None else int(found[0])


def _create_owner(connection: apsw.Connection, name: str) -> int:
    connection.execute("INSERT INTO owners (name) VALUES (?)", (name,))
    owner = connection.last_insert_rowid()
    if owner >= _LAST_ROW // _PARTS_PER_OWNER:
        raise StorageError("too-large")
    return owner


def search(connection: apsw.Connection, term: TextTerm, after: Optional[TextHit], limit: int) -> list[TextHit]:
    """Where the term is, the newest owner first and within an owner the last part first, below `after`."""
    hits: list[TextHit] = []
    sought = query(connection, term)
    if sought is None or limit == 0:
        return hits
    before = _LAST_ROW
    if after is not None:
        # An owner keeps its number for good, so one without a number never was a hit.
        owner = _find_owner(connection, after.owner)
        before = 0 if owner is None else _row_of(owner, after.part)
    owner, name = None, None
    statement = "SELECT rowid FROM texts WHERE texts MATCH ? AND rowid < ? ORDER BY rowid DESC"
    for (place,) in rows(connection, statement, sought, before):
        if place >= before:
            raise disorder()
        before = place
        if place // _PARTS_PER_OWNER != owner:
            owner = place // _PARTS_PER_OWNER
            found = row(connection, "SELECT CAST(name AS BLOB) FROM owners WHERE id = ?", owner)
            name = None if found is None else readable(found[0])
        # What is nobody's is no hit.
        if name is None:
            continue
        hits.append(TextHit(name, place % _PARTS_PER_OWNER))
        if len(hits) == limit:
            break
    return hits


def find(connection: apsw.Connection, term: TextTerm, scopes: list[TextScope]) -> list[Optional[int]]:
    """For each scope the first part that holds the term."""
    phrase = Phrase(term)
    # For a longer prefix FTS5 would go through all texts of the store, and that for each scope.
    most = None if is_longer_prefix(term) else _READ_AT_MOST

    def first(scope: TextScope) -> Optional[int]:
        owner = _find_owner(connection, scope.owner)
        if owner is None:
            return None
        last = min(_row_of(owner, scope.until), _last_row(owner))
        found, rest = _first_read(connection, phrase, _row_of(owner, 0), last, most)
        if rest is not None:
            found = _first_match(connection, term, rest, last)
        return None if found is None else found % _PARTS_PER_OWNER

    return [first(scope) for scope in scopes]


def _first_match(connection: apsw.Connection, term: TextTerm, first: int, last: int) -> Optional[int]:
    """The first of these rows that holds the term, by the index."""
    statement = "SELECT rowid FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT 1"
    found = row(connection, statement, literal(term), first, last)
    return None if found is None else int(found[0])


def _first_read(
    connection: apsw.Connection, phrase: Phrase, first: int, last: int, most: Optional[int]
) -> tuple[Optional[int], Optional[int]]:
    """The first of these rows that holds the term by reading them; where that would be more than so many bytes, the row that is next."""
    held = 0
    statement = "SELECT rowid, CAST(tokens AS BLOB) FROM texts WHERE rowid BETWEEN ? AND ? ORDER BY rowid"
    for place, tokens in rows(connection, statement, first, last):
        if most is not None and held > most:
            return None, place
        if phrase.is_in(tokens):
            return place, None
        held += len(tokens)
    return None, None


def read(connection: apsw.Connection, owner: str, start: int, limit: int, max_bytes: int) -> TextPage:
    """The texts of an owner from a part on."""
    number = _find_owner(connection, owner)
    if number is None:
        return TextPage([], False)

    def texts(number: int) -> Iterator[Optional[tuple[TextPart, int]]]:
        statement = "SELECT rowid, CAST(tokens AS BLOB) FROM texts WHERE rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?"
        for place, tokens in rows(connection, statement, _row_of(number, start), _last_row(number), asked(limit)):
            is_owners = place // _PARTS_PER_OWNER == number
            text = TextPart(owner, place % _PARTS_PER_OWNER, readable(tokens))
            yield (text, len(tokens)) if is_owners else None

    def is_next(before: Optional[TextPart], text: TextPart) -> bool:
        return text.part >= start if before is None else text.part > before.part

    return TextPage(*bounded(texts(number), limit, max_bytes, is_next))


def index(connection: apsw.Connection, owner: str, part: int, tokens: str) -> None:
    """Replaces what is indexed for an owner's part."""
    if part >= _PARTS_PER_OWNER:
        raise StorageError("too-large")
    number = _find_owner(connection, owner)
    if not tokens:
        if number is not None:
            connection.execute("DELETE FROM texts WHERE rowid = ?", (_row_of(number, part),))
        return
    place = _row_of(_create_owner(connection, owner) if number is None else number, part)
    connection.execute("INSERT OR REPLACE INTO texts (rowid, tokens) VALUES (?, ?)", (place, tokens))


def cut(connection: apsw.Connection, owner: str, start: int) -> None:
    """Drops the parts of an owner from a number on."""
    number = _find_owner(connection, owner)
    if number is not None:
        connection.execute("DELETE FROM texts WHERE rowid BETWEEN ? AND ?", (_row_of(number, start), _last_row(number)))
