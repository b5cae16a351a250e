"""Whose a database is. It is found out without changing a byte of what may be somebody else's."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import apsw

from . import place
from .transaction import transaction

# What `PRAGMA application_id` says of a store: `acps`.
OURS = 0x6163_7073

# Where the header of a file has it.
_APPLICATION_AT = slice(68, 72)
_MAGIC = b"SQLite format 3\0"

# The tables of a store.
_TABLES = {"records", "logs", "entries", "owners", "texts", "vocabulary"}

# A store; one of a version that did not mark them; nobody's, for there is nothing in it; another program's.
Kind = Literal["store", "unmarked", "empty", "foreign"]


def of(connection: apsw.Connection) -> Kind:
    application, version = int(connection.pragma("application_id")), int(connection.pragma("user_version"))
    if application == OURS:
        return "store"
    if application:
        return "foreign"
    objects = {name for name, in connection.execute("SELECT name FROM sqlite_master")}
    if version == 0 and not objects:
        return "empty"
    return "unmarked" if version > 0 and objects >= _TABLES else "foreign"


def is_marked(connection: apsw.Connection) -> bool:
    return int(connection.pragma("application_id")) == OURS


def mark(connection: apsw.Connection) -> Kind:
    """Marks a store as one. Whose it is is looked at again: another program may have been faster."""
    with transaction(connection, "IMMEDIATE"):
        kind = of(connection)
        if kind in ("unmarked", "empty"):
            connection.pragma("application_id", OURS)
    return kind


def of_file(file: Path) -> Kind:
    """Whose the database in this file is. Nothing is written, neither into it nor beside it."""
    try:
        kind = _looked_at(file)
    except apsw.NotADBError:
        return "foreign"
    # SQLite takes a single byte for nothing.
    return "foreign" if kind == "empty" and file.stat().st_size == 1 else kind


def _looked_at(file: Path) -> Kind:
    if not place.has_journal(file):
        return _look(file, "immutable=1")
    try:
        # With the journal's index as it is there.
        return _look(file, "mode=ro&readonly_shm=1")
    except apsw.NotADBError:
        raise
    except apsw.Error:
        # A computer that crashes leaves a journal without an index. A store was marked before it had a journal, so the file
        # alone tells. It is read past SQLite only where no connection of this process has it open: closing a file drops the
        # process's locks on it, and whoever has it open has an index.
        with open(file, "rb") as opened:
            header = opened.read(100)
        is_ours = header.startswith(_MAGIC) and int.from_bytes(header[_APPLICATION_AT], "big") == OURS
        return "store" if is_ours else "foreign"


def _look(file: Path, how: str) -> Kind:
    connection = open_read_only(file, how)
    try:
        return of(connection)
    finally:
        connection.close()


def open_read_only(file: Path, how: str) -> apsw.Connection:
    """Opens a database for reading, in the way that this part of a URI says."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"{file.absolute().as_uri()}?{how}", flags)
