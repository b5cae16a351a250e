"""What can go wrong, and how the engine is told."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator, Literal

import apsw

from ..storage import StorageError

Reason = Literal["old-sqlite", "create", "too-new", "foreign", "no-file", "empty-read-only", "rights", "open"]

_BUSY = "another process kept it locked for too long"


class OpenError(Exception):
    """
    Why a store could not be opened, as a text and as a `reason`: `old-sqlite` (the library is), `create` (the file or its folder could
    not be), `too-new` (a later version wrote it), `foreign` (another program's database, or none at all; it was not changed),
    `no-file` (a folder or the like), `empty-read-only`, `rights` (others have some that cannot be taken from them), `open` (SQLite's own).
    """

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def of_sqlite(error: apsw.Error) -> StorageError:
    """What the engine is told of an error of SQLite's."""
    if isinstance(error, apsw.FullError):
        return StorageError("full")
    if isinstance(error, apsw.ReadOnlyError):
        return StorageError("read-only")
    if isinstance(error, (apsw.TooBigError, apsw.NoMemError)):
        return StorageError("too-large")
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return StorageError("unavailable", _BUSY)
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return StorageError("corrupt", str(error))
    return StorageError("unavailable", str(error))


def disorder() -> StorageError:
    """Rows came in another order than was asked for, so that reading page after page would never end."""
    return StorageError("corrupt", "the file is damaged: what is in it is out of order")


def newer(found: int, known: int) -> StorageError:
    """A later version has changed the format of an open store."""
    said = f"has format {found} by now, this package knows formats up to {known}: use a newer acp-sessions"
    return StorageError("unavailable", f"the store {said}")


@contextmanager
def told() -> Iterator[None]:
    """Within this, errors of SQLite's are the engine's values."""
    try:
        yield
    except apsw.Error as error:
        raise of_sqlite(error) from error
