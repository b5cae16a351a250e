"""The store in memory keeps the contract of storages, and stores that do not are found."""

import sys
import unittest
from typing import Any, Callable, Optional

from acp_sessions import MemoryStore, Storage, StorageError
from acp_sessions.storage import (
    Append,
    DropText,
    Durability,
    Expectation,
    IndexText,
    Put,
    RecordPage,
    Restore,
    TextHit,
    TextPage,
    TextScope,
    TextTerm,
    Write,
)
from contract import cases, contract

ALL = 0xFFFFFFFF


def work(_: Storage, run: Callable[[], Any]) -> int:
    """How many lines the interpreter goes through."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


class Plain(MemoryStore):
    """Without texts, and with little room."""

    def commit(self, expected: list[Expectation], writes: list[Write], durability: Durability) -> None:
        if any(isinstance(write, (Put, Append)) and len(write.value) > 1 << 20 for write in writes):
            raise StorageError("too-large")
        if any(isinstance(write, Restore) for write in writes):
            raise StorageError("unsupported")
        others: list[Write] = [write for write in writes if not isinstance(write, (IndexText, DropText))]
        super().commit(expected, others, durability)

    def search_text(self, term: TextTerm, after: Optional[TextHit], limit: int) -> list[TextHit]:
        raise StorageError("unsupported")

    def find_text(self, term: TextTerm, scopes: list[TextScope]) -> list[Optional[int]]:
        raise StorageError("unsupported")

    def text_owners(self, after: Optional[str], limit: int) -> list[str]:
        raise StorageError("unsupported")

    def read_texts(self, owner: str, start: int, limit: int, max_bytes: int) -> TextPage:
        raise StorageError("unsupported")


class Searching(MemoryStore):
    """Goes through its index for each scope."""

    def find_text(self, term: TextTerm, scopes: list[TextScope]) -> list[Optional[int]]:
        def first(scope: TextScope) -> Optional[int]:
            hits = self.search_text(term, None, ALL)
            return min((hit.part for hit in hits if hit.owner == scope.owner and hit.part <= scope.until), default=None)

        return [first(scope) for scope in scopes]


class Reading(MemoryStore):
    """Reads everything for a page."""

    def scan(self, start: str, end: str, descending: bool, limit: int, max_bytes: int) -> RecordPage:
        everything = super().scan("", "\x80", descending, ALL, ALL).entries
        within = [entry for entry in everything if start <= entry.key < end]
        page = super().scan(start, end, descending, limit, max_bytes)
        return RecordPage(within[: len(page.entries)], page.more)


class Silent(MemoryStore):
    """Does not say that there is more."""

    def scan(self, start: str, end: str, descending: bool, limit: int, max_bytes: int) -> RecordPage:
        return RecordPage(super().scan(start, end, descending, limit, max_bytes).entries, False)


class Partial(MemoryStore):
    """Writes a part of what it refuses."""

    def commit(self, expected: list[Expectation], writes: list[Write], durability: Durability) -> None:
        super().commit(expected, [], durability)
        for write in writes:
            super().commit([], [write], durability)


class Late(MemoryStore):
    """Looks at expectations behind the writes."""

    def commit(self, expected: list[Expectation], writes: list[Write], durability: Durability) -> None:
        super().commit([], writes, durability)
        super().commit(expected, [], durability)


class Folding(MemoryStore):
    """Finds words by their small letters, without accents and such."""

    def search_text(self, term: TextTerm, after: Optional[TextHit], limit: int) -> list[TextHit]:
        folded = TextTerm([token.replace("u", "ü") for token in term.tokens], term.prefix)
        return super().search_text(term, after, limit) or super().search_text(folded, after, limit)


BROKEN: dict[str, Callable[[], Storage]] = {
    "cost/find-word": Searching,
    "cost/scan": Reading,
    "records/scan": Silent,
    "commits/all-or-none": Partial,
    "commits/expected-before": Late,
    "texts/words": Folding,
}


class Turned(MemoryStore):
    """Says what its state makes it say."""

    state: Optional[str] = None
    what: Optional[str] = "what is wrong"

    def __getattribute__(self, name: str) -> Any:
        if name in READS and self.state == "damaged":
            return self.unread(name)
        return super().__getattribute__(name)

    def unread(self, name: str) -> Callable[..., Any]:
        def refuse(*arguments: Any) -> Any:
            raise StorageError("corrupt", self.what)

        return refuse

    def commit(self, expected: list[Expectation], writes: list[Write], durability: Durability) -> None:
        if self.state in ("full", "read-only"):
            raise StorageError("full" if self.state == "full" else "read-only")
        if self.state is not None:
            raise StorageError("unavailable" if self.state == "busy" else "corrupt", self.what)
        super().commit(expected, writes, durability)


class TurnedWriting(Turned):
    """Writes although it says that it cannot be written."""

    def commit(self, expected: list[Expectation], writes: list[Write], durability: Durability) -> None:
        if self.state != "damaged":
            MemoryStore.commit(self, expected, writes, durability)
        if self.state:
            super().commit(expected, [], durability)


class TurnedPartial(Turned):
    """Keeps what there is room for of what it refuses."""

    def commit(self, expected: list[Expectation], writes: list[Write], durability: Durability) -> None:
        if self.state in ("full", "read-only", "busy"):
            MemoryStore.commit(self, expected, writes[:1], durability)
        super().commit(expected, writes, durability)


class TurnedMissing(Turned):
    """Gives nothing for what it cannot read."""

    def unread(self, name: str) -> Callable[..., Any]:
        reading: Callable[..., Any] = getattr(MemoryStore(), name)
        return reading


class TurnedMute(Turned):
    """Does not say what is wrong."""

    what = None


READS = {"get", "scan", "log_end", "read_log", "log_names", "search_text", "find_text", "text_owners", "read_texts"}
# In which states each breaks it.
TURNED: dict[type[Turned], set[str]] = {
    TurnedWriting: {"busy", "full", "read-only"},
    TurnedPartial: {"busy", "full", "read-only"},
    TurnedMissing: {"damaged"},
    TurnedMute: {"busy", "damaged"},
}


def turn(store: Storage, state: str) -> None:
    assert isinstance(store, Turned)
    store.state = state


class Contract(unittest.TestCase):
    maxDiff = None

    def test_there_are_cases_of_everything(self) -> None:
        folders = sorted({name.split("/")[0] for name, _ in cases()})
        self.assertEqual(folders, ["commits", "cost", "logs", "names", "records", "sizes", "states", "texts"])

    def test_the_store_in_memory_keeps_it(self) -> None:
        self.assertEqual(contract(cases(), MemoryStore, work=work), [])

    def test_a_store_that_does_less_keeps_it_where_it_says_so(self) -> None:
        lacks = ["text-search", "restore", "large-values"]
        self.assertEqual(contract(cases(), Plain, lacks, work), [])
        self.assertGreater(len(contract(cases(), Plain)), 10)

    def test_a_store_that_breaks_it_is_found(self) -> None:
        for name, store in BROKEN.items():
            with self.subTest(store.__doc__, name=name):
                of_it = [(at, case) for at, case in cases() if at == f"{name}.json"]
                self.assertEqual(contract(of_it, MemoryStore, work=work), [])
                self.assertEqual(len(contract(of_it, store, work=work)), 1)

    def test_a_store_that_breaks_it_in_a_state_is_found(self) -> None:
        self.assertEqual(contract(cases(), Turned, work=work, turn=turn), [])
        for kind, states in TURNED.items():
            with self.subTest(kind.__doc__):
                found = contract(cases(), kind, work=work, turn=turn)
                of_these = [name for name, case in cases() if states.intersection(case.get("needs", ()))]
                self.assertEqual([text.split(":")[0] for text in found], of_these)


if __name__ == "__main__":
    unittest.main()
