"""A store in memory, after the contract of ``storage`` in the WIT."""

from __future__ import annotations

from typing import Callable, Iterable, Optional, TypeVar

from .ordered import Ordered
from .storage import (
    Amend,
    Append,
    CutLog,
    DropText,
    Durability,
    Entry,
    Expectation,
    IndexText,
    LogEntry,
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
from .texts import Texts

LAST_SEQ = 2**32 - 2
LAST_PART = 2**28 - 1

Item = TypeVar("Item")


class MemoryStore:
    """What is in it ends with the process. For one thread at a time."""

    def __init__(self) -> None:
        self._records: Ordered[str] = Ordered()
        self._logs: Ordered[list[str]] = Ordered()
        self._texts = Texts()

    def get(self, keys: list[str]) -> list[Optional[str]]:
        return [self._records.get(key) for key in keys]

    def scan(self, start: str, end: str, descending: bool, limit: int, max_bytes: int) -> RecordPage:
        places = range(self._records.place(start), self._records.place(end))
        items = (self._records.item(at) for at in (reversed(places) if descending else places))
        entries = (Entry(key, value) for key, value in items)
        return RecordPage(*bounded(entries, limit, max_bytes, lambda entry: size(entry.key) + size(entry.value)))

    def log_end(self, log: str) -> int:
        return len(self._logs.get(log) or ())

    def read_log(self, log: str, start: int, limit: int, max_bytes: int) -> LogPage:
        values = self._logs.get(log) or []
        entries = (LogEntry(seq, values[seq - 1]) for seq in range(max(start, 1), len(values) + 1))
        return LogPage(*bounded(entries, limit, max_bytes, lambda entry: size(entry.value)))

    def search_text(self, term: TextTerm, after: Optional[TextHit], limit: int) -> list[TextHit]:
        return self._texts.search(term, after, limit)

    def find_text(self, term: TextTerm, scopes: list[TextScope]) -> list[Optional[int]]:
        return self._texts.find(term, scopes)

    def text_owners(self, after: Optional[str], limit: int) -> list[str]:
        return self._texts.owners(after, limit)

    def read_texts(self, owner: str, start: int, limit: int, max_bytes: int) -> TextPage:
        texts = (text for text in self._texts.of(owner) if text.part >= start)
        return TextPage(*bounded(texts, limit, max_bytes, lambda text: size(text.tokens)))

    def log_names(self, after: Optional[str], limit: int) -> list[str]:
        return self._logs.behind(after, limit)

    def commit(self, expected: list[Expectation], writes: list[Write], durability: Durability) -> None:
        if any(self._records.get(expectation.key) != expectation.value for expectation in expected):
            raise StorageError("conflict")
        self._check_places(writes)
        for write in writes:
            self._apply(write)

    def _check_places(self, writes: list[Write]) -> None:
        """Whether every append, amend and text finds its place, given the writes before it."""
        ends: dict[str, int] = {}
        for write in writes:
            if isinstance(write, IndexText) and write.part > LAST_PART:
                raise StorageError("too-large")
            if not isinstance(write, (Append, Amend, Restore, CutLog)):
                continue
            end = ends.get(write.log, self.log_end(write.log))
            if isinstance(write, Append):
                if end >= LAST_SEQ:
                    raise StorageError("too-large")
                if write.seq != end + 1:
                    raise StorageError("conflict")
                ends[write.log] = write.seq
            elif isinstance(write, CutLog):
                ends[write.log] = min(end, max(write.start - 1, 0))
            elif write.seq == 0 or write.seq > end or (isinstance(write, Amend) and write.seq != end):
                raise StorageError("conflict")

    def _apply(self, write: Write) -> None:
        if isinstance(write, Put):
            self._records.set(write.key, write.value)
        elif isinstance(write, Remove):
            self._records.delete(write.key)
        elif isinstance(write, Append):
            values = self._logs.get(write.log)
            if values is None:
                self._logs.set(write.log, [write.value])
            else:
                values.append(write.value)
        elif isinstance(write, (Amend, Restore)):
            (self._logs.get(write.log) or [])[write.seq - 1] = write.value
        elif isinstance(write, CutLog):
            values = self._logs.get(write.log)
            if values is not None:
                del values[max(write.start - 1, 0) :]
                if not values:
                    self._logs.delete(write.log)
        elif isinstance(write, IndexText):
            self._texts.put(write.owner, write.part, write.tokens)
        else:
            assert isinstance(write, DropText)
            self._texts.drop(write.owner, write.start)


def size(text: str) -> int:
    """Bytes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def bounded(
    items: Iterable[Item], limit: int, max_bytes: int, size_of: Callable[[Item], int]
) -> tuple[list[Item], bool]:
    """As many as a page may have, but one where there is one; and whether any are left."""
    taken: list[Item] = []
    held = 0
    for item in items:
        held += size_of(item)
        if taken and (len(taken) >= limit or held > max_bytes):
            return taken, True
        taken.append(item)
    return taken, False
