"""Opening: the settings of a connection, what is only read, and waiting for other processes."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Callable, Optional, TypeVar

import apsw

from . import kind, place, schema
from .errors import OpenError

# Pages of the file kept in memory, in KiB.
_CACHE_KIB = 4096

# How long the journal's file stays, in bytes, when it is begun again: twice of what is in it by then, however long it has grown while
# somebody kept it from that.
_JOURNAL_KEPT = 8 << 20

# Before it, a process that emptied the journal while another wrote could damage the file.
_OLDEST = (3, 51, 3)

# One store is opened at a time: connections of a process share what they know of a journal, and one that looks whose a file is must not do
# so without a right to write for another.
_opening = threading.Lock()

# How SQLite says that there is no room for the journal's index, or for what it writes.
_NO_ROOM = {
    apsw.SQLITE_IOERR_SHMOPEN,
    apsw.SQLITE_IOERR_SHMSIZE,
    apsw.SQLITE_IOERR_SHMMAP,
    apsw.SQLITE_IOERR_WRITE,
}

Opened = TypeVar("Opened")


def open_store(file: Path, busy_for: float) -> tuple[apsw.Connection, bool]:
    """The connection, and whether it can only read for want of room."""
    check_library(apsw.sqlite_lib_version())
    with _opening:
        place.create(file)
        if not file.is_file():
            raise OpenError("no-file", f"{file} is no session store: it is not a file")
        try:
            if _retried(busy_for, lambda: kind.of_file(file)) == "foreign":
                raise _foreign(file)
            return _open(file, busy_for)
        except (apsw.Error, OSError) as error:
            raise OpenError("open", f"cannot open the session store {file}: {error}") from error


def check_library(found: str) -> None:
    """Whether this version of SQLite will do."""
    oldest = ".".join(map(str, _OLDEST))
    if tuple(int(part) for part in found.split(".")) < _OLDEST:
        said = f"apsw has SQLite {found}; {oldest} or newer is needed: older ones can damage a file that several processes write"
        raise OpenError("old-sqlite", said)


def _foreign(file: Path) -> OpenError:
    said = f"{file} is no session store: it is another program's database, or no database at all; it was not changed"
    return OpenError("foreign", said)


def again_to_write(file: Path, busy_for: float) -> Optional[apsw.Connection]:
    """Opens to write what could only be read for want of room, if there is some by now; nobody is waited for."""
    with _opening:
        try:
            connection = _open_to_write(file, 0)
        except (apsw.Error, OpenError, OSError):
            return None
    connection.set_busy_timeout(round(busy_for * 1000))
    return connection


def _open(file: Path, busy_for: float) -> tuple[apsw.Connection, bool]:
    try:
        return _open_to_write(file, busy_for), False
    except (apsw.ReadOnlyError, apsw.CantOpenError):
        return _open_to_read(file, busy_for), False
    except apsw.Error as error:
        if not _is_no_room(error):
            raise
        return _open_to_read(file, busy_for), True


def _is_no_room(error: apsw.Error) -> bool:
    """Whether there is no room for what would have to be written."""
    return isinstance(error, apsw.FullError) or getattr(error, "extendedresult", None) in _NO_ROOM


def _open_to_write(file: Path, busy_for: float) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(file.absolute().as_uri(), flags)
    try:
        if connection.readonly("main"):
            raise apsw.ReadOnlyError(str(file))
        place.narrow(file)
        _configure(connection, busy_for)
        version = _known_version(connection, file, busy_for)
        if not kind.is_marked(connection) and _retried(busy_for, lambda: kind.mark(connection)) == "foreign":
            raise _foreign(file)
        if version < schema.CURRENT:
            _retried(busy_for, lambda: schema.migrate(connection))
    except BaseException:
        connection.close(True)
        raise
    return connection


def _open_to_read(file: Path, busy_for: float) -> apsw.Connection:
    """Opens a store that can only be read: the tables have been the same in all versions."""
    # Without a journal there is nobody who writes, and nothing that would have to be made beside the file.
    connection = kind.open_read_only(file, "mode=ro" if place.has_journal(file) else "immutable=1")
    try:
        _configure(connection, busy_for)
        if _known_version(connection, file, busy_for) < schema.CURRENT and kind.of(connection) == "empty":
            raise OpenError("empty-read-only", f"the session store {file} is empty and cannot be written")
    except BaseException:
        connection.close(True)
        raise
    return connection


def _known_version(connection: apsw.Connection, file: Path, busy_for: float) -> int:
    version = _retried(busy_for, lambda: schema.version(connection))
    if version > schema.CURRENT:
        said = f"has format {version}, this package knows formats up to {schema.CURRENT}: use a newer acp-sessions, or another file"
        raise OpenError("too-new", f"the session store {file} {said}")
    return version


def _configure(connection: apsw.Connection, busy_for: float) -> None:
    connection.set_busy_timeout(round(busy_for * 1000))
    # Otherwise plans depend on what is bound, a limit above all, and each use of a statement prepares it anew.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.pragma("synchronous", "NORMAL")
    connection.pragma("cache_size", -_CACHE_KIB)
    connection.pragma("temp_store", "MEMORY")
    connection.pragma("journal_size_limit", _JOURNAL_KEPT)
    # A file that another process cuts short would be a fatal signal here.
    connection.pragma("mmap_size", 0)
    # What is deleted is overwritten.
    connection.pragma("secure_delete", "ON")


def _retried(limit: float, attempt: Callable[[], Opened]) -> Opened:
    """SQLite does not wait by itself where waiting could be a deadlock; as nothing is held here, it cannot be one."""
    begun = time.monotonic()
    while True:
        try:
            return attempt()
        except (apsw.BusyError, apsw.LockedError):
            if time.monotonic() - begun >= limit:
                raise
            time.sleep(0.002)
