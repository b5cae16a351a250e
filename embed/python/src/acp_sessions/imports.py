"""What an instance imports: the values of wasmtime made of ours and the other way round."""

from __future__ import annotations

from typing import Any, Callable

from wasmtime.component import Record, Variant

from .storage import (
    Amend,
    Append,
    CutLog,
    DropText,
    Expectation,
    IndexText,
    Put,
    Remove,
    Restore,
    Storage,
    StorageError,
    TextHit,
    TextScope,
    TextTerm,
    Write,
)


def record(**members: Any) -> Record:
    """A record of the WIT, whose names have a `-` where ours have a `_`."""
    made = Record()
    for name, value in members.items():
        setattr(made, name.replace("_", "-"), value)
    return made


def storage_error(error: StorageError) -> Variant:
    if error.tag in ("corrupt", "unavailable"):
        return Variant(error.tag, error.text or "")
    return Variant(error.tag)


def _write(write: Any) -> Write:
    of = write.payload
    if write.tag == "put":
        return Put(of.key, of.value)
    if write.tag == "remove":
        return Remove(of)
    if write.tag == "append":
        return Append(of.log, of.seq, of.value)
    if write.tag == "amend":
        return Amend(of.log, of.seq, of.value)
    if write.tag == "restore":
        return Restore(of.log, of.seq, of.value)
    if write.tag == "cut-log":
        return CutLog(of.log, of.start)
    if write.tag == "index-text":
        return IndexText(of.owner, of.part, of.tokens)
    return DropText(of.owner, of.start)


def _term(term: Any) -> TextTerm:
    return TextTerm(term.tokens, term.prefix)


def _text_hits(hits: list[TextHit]) -> Record:
    """What a search has found as the WIT has it: the names of the owners in one string, where each ends, and the parts."""
    names: list[str] = []
    ends: list[int] = []
    end = 0
    for hit in hits:
        if not names or names[-1] != hit.owner:
            names.append(hit.owner)
            end += len(hit.owner.encode())
        ends.append(end)
    return record(owners="".join(names), ends=ends, parts=[hit.part for hit in hits])


# The elements of a page are read member by member, so ours will do; a page itself has to be one of wasmtime's records.
def storage_functions(store: Storage) -> dict[str, Callable[..., Any]]:
    """The functions of a store as an instance calls them, by their names."""

    def scan(start: str, end: str, descending: bool, limit: int, max_bytes: int) -> Record:
        page = store.scan(start, end, descending, limit, max_bytes)
        return record(entries=page.entries, more=page.more)

    def read_log(log: str, start: int, limit: int, max_bytes: int) -> Record:
        page = store.read_log(log, start, limit, max_bytes)
        return record(entries=page.entries, more=page.more)

    def search_text(term: Any, after: Any, limit: int) -> Record:
        behind = None if after is None else TextHit(after.owner, after.part)
        return _text_hits(store.search_text(_term(term), behind, limit))

    def find_text(term: Any, scopes: list[Any]) -> Any:
        return store.find_text(_term(term), [TextScope(scope.owner, scope.until) for scope in scopes])

    def read_texts(owner: str, start: int, limit: int, max_bytes: int) -> Record:
        page = store.read_texts(owner, start, limit, max_bytes)
        return record(texts=page.texts, more=page.more)

    def commit(expected: list[Any], writes: list[Any], durability: Any) -> None:
        expectations = [Expectation(one.key, one.value) for one in expected]
        store.commit(expectations, [_write(write) for write in writes], durability)

    return {
        "get": lambda keys: store.get(keys),
        "scan": scan,
        "log-end": lambda log: store.log_end(log),
        "read-log": read_log,
        "search-text": search_text,
        "find-text": find_text,
        "text-owners": lambda after, limit: store.text_owners(after, limit),
        "read-texts": read_texts,
        "log-names": lambda after, limit: store.log_names(after, limit),
        "commit": commit,
    }
