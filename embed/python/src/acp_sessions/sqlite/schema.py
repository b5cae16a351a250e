"""
The tables, and how older ones become them: the steps are the program's own files (`host/src/store/sqlite/schema`). `PRAGMA user_version`
counts those that were taken.
"""

from __future__ import annotations

from importlib.resources import files

import apsw

from .errors import newer
from .transaction import transaction


def _steps() -> list[str]:
    folder = files(__package__).joinpath("schema")
    found = {int(file.name[:-4]): file for file in folder.iterdir() if file.name.endswith(".sql")}
    return [found[number].read_text("utf-8") for number in range(1, len(found) + 1)]


STEPS = _steps()
# The format that is written.
CURRENT = len(STEPS)


def version(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))


def check(connection: apsw.Connection) -> None:
    """That no later version has changed the format since the store was opened: nothing is written to that."""
    found = version(connection)
    if found > CURRENT:
        raise newer(found, CURRENT)


def migrate(connection: apsw.Connection) -> None:
    """Brings the store up to date. Several processes may try at once: one does it, the others find it done."""
    # Kept in the file; it cannot be changed within a transaction.
    connection.pragma("journal_mode", "WAL")
    with transaction(connection, "EXCLUSIVE"):
        applied = version(connection)
        pending = STEPS[applied:]
        for step in pending:
            # Run to the end of the last statement.
            connection.execute(step).fetchall()
        if applied == 0:
            # No earlier version has left anything to be cleaned up after in a store that is made here.
            connection.execute("UPDATE cleaning SET removed = 0").fetchall()
        if pending:
            connection.pragma("user_version", CURRENT)
