"""What reads have in common: rows that come in order, up to a number of rows or bytes, as far as they can be read."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, Literal, Optional, TypeVar

import apsw

from .errors import disorder

Item = TypeVar("Item")


def rows(connection: apsw.Connection, statement: str, *bindings: Any) -> Iterator[Any]:
    cursor = connection.execute(statement, bindings)
    try:
        yield from cursor
    finally:
        cursor.close(True)


def row(connection: apsw.Connection, statement: str, *bindings: Any) -> Any:
    """The first row, if there is one."""
    return next(rows(connection, statement, *bindings), None)


def readable(value: Optional[bytes]) -> str:
    """A text that was asked for as its bytes, with U+FFFD for whatever is none: bytes that are no text keep nobody from what stands beside them."""
    return (value or b"").decode("utf-8", "replace")


def name(value: bytes) -> Optional[str]:
    """A key or a name; none where it is no text: nobody could ask for it."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def asked(limit: int) -> int:
    """How many rows to ask for: one more than may be returned, to know whether there are more."""
    return max(limit, 1) + 1


def bounded(
    found: Iterable[Optional[tuple[Item, int]]],
    limit: int,
    max_bytes: int,
    is_next: Callable[[Optional[Item], Item], bool],
) -> tuple[list[Item], bool]:
    """
    Takes rows until a bound is reached, but one where there is one; says whether any were left. A row comes with its bytes, or is none
    that counts; `is_next` says whether it may follow the one before, or be the first.
    """
    taken: list[Item] = []
    held = 0
    for one in found:
        if one is None:
            continue
        item, size = one
        held += size
        if taken and (len(taken) >= limit or held > max_bytes):
            return taken, True
        if not is_next(taken[-1] if taken else None, item):
            raise disorder()
        taken.append(item)
    return taken, False


def names(connection: apsw.Connection, table: Literal["logs", "owners"], after: Optional[str], limit: int) -> list[str]:
    """Names behind this one, in their order."""
    # The least name behind the one before.
    start = "" if after is None else f"{after}\0"
    taken: list[str] = []
    if limit == 0:
        return taken
    for (found,) in rows(connection, f"SELECT CAST(name AS BLOB) FROM {table} WHERE name >= ? ORDER BY name", start):
        text = name(found)
        if text is None:
            continue
        if text <= taken[-1] if taken else text < start:
            raise disorder()
        taken.append(text)
        if len(taken) == limit:
            break
    return taken
