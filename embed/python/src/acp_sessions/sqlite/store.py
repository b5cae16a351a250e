"""The storage of `wit/world.wit`, by SQLite."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Callable, Iterator, Optional, TypeVar, Union

import apsw

from ..storage import (
    Amend,
    Append,
    CutLog,
    DropText,
    Durability,
    Expectation,
    IndexText,
    LogPage,
    Put,
    RecordPage,
    Remove,
    Restore,
    StorageError,
    TextHit,
    TextPage,
    TextScope,
    TextTerm,
    Write,
)
from . import cleaning, logs, records, schema, texts
from .awaiting_room import AwaitingRoom
from .errors import told
from .opening import open_store
from .patience import Patience
from .place import Place, in_home
from .reading import names
from .transaction import transaction

Found = TypeVar("Found")


class FileStore:
    """
    A store in a file that any number of processes share, this package and the program `acp-sessions` among them. It is created where it is
    missing, and so are the folders above it, for their owner alone; rights that others have on the file are taken from them. A file that
    cannot be written is opened for reading; where that is for want of room, it is written to as soon as there is some. A path may begin with
    `~/`, the user's home folder.

    `busy_for` is how many seconds it waits for other processes that write, all in all where waits follow one another; as long as they end
    well there is half of that for each.

    For one thread at a time; each engine has its own. No other SQLite may have the file open in this process, not Python's `sqlite3`
    either: whichever closes it first drops the locks of both.

    Raises `OpenError`.
    """

    def __init__(self, path: Union[str, os.PathLike[str]], *, busy_for: float = 10.0) -> None:
        file = in_home(Path(path)).absolute()
        self._connection, is_without_room = open_store(file, busy_for)
        self._awaiting_room = AwaitingRoom(file, busy_for) if is_without_room else None
        self._place = Place(file)
        # What `PRAGMA synchronous` stands at.
        self._durability: Durability = "relaxed"
        self._patience = Patience(busy_for, time.monotonic())

    def close(self) -> None:
        """Lets go of the file. Nothing may be called after that."""
        self._connection.close(True)

    def __enter__(self) -> FileStore:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def get(self, keys: list[str]) -> list[Optional[str]]:
        return self._read(lambda connection: records.get(connection, keys))

    def scan(self, start: str, end: str, descending: bool, limit: int, max_bytes: int) -> RecordPage:
        self._look_for_room()
        with told():
            return records.scan(self._connection, start, end, descending, limit, max_bytes)

    def log_end(self, log: str) -> int:
        return self._read(lambda connection: logs.end(connection, log))

    def read_log(self, log: str, start: int, limit: int, max_bytes: int) -> LogPage:
        return self._read(lambda connection: logs.read(connection, log, start, limit, max_bytes))

    def search_text(self, term: TextTerm, after: Optional[TextHit], limit: int) -> list[TextHit]:
        return self._read(lambda connection: texts.search(connection, term, after, limit))

    def find_text(self, term: TextTerm, scopes: list[TextScope]) -> list[Optional[int]]:
        return self._read(lambda connection: texts.find(connection, term, scopes))

    def text_owners(self, after: Optional[str], limit: int) -> list[str]:
        self._look_for_room()
        with told():
            return names(self._connection, "owners", after, limit)

    def read_texts(self, owner: str, start: int, limit: int, max_bytes: int) -> TextPage:
        return self._read(lambda connection: texts.read(connection, owner, start, limit, max_bytes))

    def log_names(self, after: Optional[str], limit: int) -> list[str]:
        self._look_for_room()
        with told():
            return names(self._connection, "logs", after, limit)

    def commit(self, expected: list[Expectation], writes: list[Write], durability: Durability) -> None:
        self._look_for_room()
        self._place.check()
        with told():
            self._set_durability(durability)
            with self._writing():
                schema.check(self._connection)
                records.check(self._connection, expected)
                for write in writes:
                    self._write(write)
                if any(isinstance(write, (CutLog, DropText)) for write in writes):
                    cleaning.note(self._connection)

    def clean(self) -> bool:
        """
        Leaves nothing in the file of what was removed by now: the whole file is written anew, and others cannot write meanwhile. Returns whether
        that is done; others that read for long keep the last of it in the journal, for the next time. Not within a call of an engine's.
        """
        self._look_for_room()
        self._place.check()
        with told():
            self._set_durability("relaxed")
            return cleaning.clean(self._connection)

    def _read(self, read: Callable[[apsw.Connection], Found]) -> Found:
        """Reads that belong together see one state of the store."""
        self._look_for_room()
        with told(), transaction(self._connection, "DEFERRED"):
            return read(self._connection)

    def _look_for_room(self) -> None:
        """Opens it to write if it waits for that and can be by now."""
        if self._awaiting_room is None or not self._awaiting_room.is_due():
            return
        with suppress(StorageError):
            self._place.check()
            connection = self._awaiting_room.opened()
            if connection is not None:
                self._connection.close(True)
                self._connection, self._durability, self._awaiting_room = connection, "relaxed", None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Other processes are waited for no longer than there is patience left. Reads wait for nobody."""
        self._connection.set_busy_timeout(round(self._patience.begin(time.monotonic()) * 1000))
        with ExitStack() as open_till_the_end:
            has_begun = False
            try:
                open_till_the_end.enter_context(transaction(self._connection, "IMMEDIATE"))
                has_begun = True
            finally:
                self._patience.end(time.monotonic(), has_begun)
            yield

    def _set_durability(self, durability: Durability) -> None:
        if self._durability != durability:
            self._connection.pragma("synchronous", "NORMAL" if durability == "relaxed" else "FULL")
            self._durability = durability

    def _write(self, write: Write) -> None:
        connection = self._connection
        if isinstance(write, Put):
            records.put(connection, write.key, write.value)
        elif isinstance(write, Remove):
            records.remove(connection, write.key)
        elif isinstance(write, Append):
            logs.append(connection, write.log, write.seq, write.value)
        elif isinstance(write, Amend):
            logs.amend(connection, write.log, write.seq, write.value)
        elif isinstance(write, Restore):
            logs.restore(connection, write.log, write.seq, write.value)
        elif isinstance(write, CutLog):
            logs.cut(connection, write.log, write.start)
        elif isinstance(write, IndexText):
            texts.index(connection, write.owner, write.part, write.tokens)
        else:
            texts.cut(connection, write.owner, write.start)
