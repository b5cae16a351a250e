"""What an engine is lent: the interface ``storage`` of ``wit/world.wit``, which says what each function promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional, Protocol, Union

Durability = Literal["relaxed", "durable"]
ErrorTag = Literal["conflict", "too-large", "full", "read-only", "corrupt", "unavailable", "unsupported"]


class StorageError(Exception):
    """
    How a store says that it did not do what it was asked: raised, it reaches the engine as the value that the WIT has for
    it, and is answered or tried again. Whatever else a store raises loses the instance.

    ``text`` is for people, and goes with ``corrupt`` and ``unavailable`` alone.
    """

    def __init__(self, tag: ErrorTag, text: Optional[str] = None) -> None:
        super().__init__(f"{tag}: {text}" if text else tag)
        self.tag = tag
        self.text = text


@dataclass(frozen=True, slots=True)
class Entry:
    """A record, or that it is to be created or replaced."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class RecordPage:
    entries: list[Entry]
    more: bool


@dataclass(frozen=True, slots=True)
class LogEntry:
    seq: int
    value: str


@dataclass(frozen=True, slots=True)
class LogPage:
    entries: list[LogEntry]
    more: bool


@dataclass(frozen=True, slots=True)
class TextPart:
    owner: str
    part: int
    tokens: str


@dataclass(frozen=True, slots=True)
class TextPage:
    texts: list[TextPart]
    more: bool


@dataclass(frozen=True, slots=True)
class TextTerm:
    tokens: list[str]
    prefix: bool


@dataclass(frozen=True, slots=True)
class TextHit:
    owner: str
    part: int


@dataclass(frozen=True, slots=True)
class TextScope:
    owner: str
    until: int


@dataclass(frozen=True, slots=True)
class Expectation:
    key: str
    value: Optional[str]


@dataclass(frozen=True, slots=True)
class Put:
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Remove:
    key: str


@dataclass(frozen=True, slots=True)
class Append:
    log: str
    seq: int
    value: str


@dataclass(frozen=True, slots=True)
class Amend:
    log: str
    seq: int
    value: str


@dataclass(frozen=True, slots=True)
class Restore:
    log: str
    seq: int
    value: str


@dataclass(frozen=True, slots=True)
class CutLog:
    log: str
    start: int


@dataclass(frozen=True, slots=True)
class IndexText:
    owner: str
    part: int
    tokens: str


@dataclass(frozen=True, slots=True)
class DropText:
    owner: str
    start: int


Write = Union[Put, Remove, Append, Amend, Restore, CutLog, IndexText, DropText]


class Storage(Protocol):
    """A store. Each function may raise `StorageError`."""

    def get(self, keys: list[str]) -> list[Optional[str]]: ...

    def scan(self, start: str, end: str, descending: bool, limit: int, max_bytes: int) -> RecordPage: ...

    def log_end(self, log: str) -> int: ...

    def read_log(self, log: str, start: int, limit: int, max_bytes: int) -> LogPage: ...

    def search_text(self, term: TextTerm, after: Optional[TextHit], limit: int) -> list[TextHit]: ...

    def find_text(self, term: TextTerm, scopes: list[TextScope]) -> list[Optional[int]]: ...

    def text_owners(self, after: Optional[str], limit: int) -> list[str]: ...

    def read_texts(self, owner: str, start: int, limit: int, max_bytes: int) -> TextPage: ...

    def log_names(self, after: Optional[str], limit: int) -> list[str]: ...

    def commit(self, expected: list[Expectation], writes: list[Write], durability: Durability) -> None: ...
