"""Plays a case of the conformance corpus (`tests/corpus/README.md`) with instances of the component."""

from __future__ import annotations

from typing import Any, Callable, Optional

from acp_sessions import MemoryStore, StorageError
from acp_sessions.engine import ANY_ROOM
from acp_sessions.imports import record
from acp_sessions.instance import CONNECTION, SESSIONS, Failed, Instance, Limits, Lost
from acp_sessions.load import Loaded
from acp_sessions.storage import Append, CutLog, IndexText, Put, Remove, Storage, Write
from wasmtime.component import Record, Variant

ALL = 0xFFFFFFFF
TEXTS = ("search_text", "find_text", "text_owners", "read_texts")
WRITES: dict[str, Callable[..., Write]] = {
    "put": Put,
    "append": Append,
    "cut-log": CutLog,
    "index-text": IndexText,
}


def case_of(value: Any) -> tuple[str, Any]:
    """A variant as a case writes it."""
    return (value, None) if isinstance(value, str) else next(iter(value.items()))


def outcome(payload: Any) -> Any:
    """What was answered to a permission request: the bindings leave out what the kind of the payload tells."""
    if payload is None:
        return "cancelled"
    return {"failed": payload} if isinstance(payload, str) else {"selected": to_json(payload)}


def to_json(value: Any) -> Any:
    """A value of the bindings as a case has it."""
    if isinstance(value, list):
        return [to_json(one) for one in value]
    if isinstance(value, Variant):
        return value.tag if value.payload is None else {value.tag: to_json(value.payload)}
    if isinstance(value, Record):
        return {name: outcome(member) if name == "outcome" else to_json(member) for name, member in vars(value).items()}
    return value


def arrivals(given: list[Any]) -> list[Record]:
    return [record(peer=one["peer"], content=Variant(*case_of(one["content"]))) for one in given]


class Faulty:
    """The store with what goes wrong in it. An exception that is no `StorageError` loses the instance."""

    def __init__(self, store: Storage, without_text_search: bool) -> None:
        self._store = store
        self._without_text_search = without_text_search
        self._faults: list[Any] = []
        self._counts: dict[str, int] = {}

    def arm(self, faults: list[Any]) -> None:
        self._faults = faults
        self._counts = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            fault = self._strike(name.replace("_", "-"))
            if isinstance(fault, dict):
                raise StorageError(*case_of(fault["error"]))  # type: ignore[arg-type]
            if fault == "lost-before":
                raise RuntimeError("the instance is to be lost")
            if self._without_text_search and name in TEXTS:
                raise StorageError("unsupported")
            result = getattr(self._store, name)(*arguments)
            if fault == "lost-after":
                raise RuntimeError("the instance is to be lost")
            return result

        return call

    def _strike(self, name: str) -> Any:
        nth = self._counts[name] = self._counts.get(name, 0) + 1
        struck = (one["flaw"] for one in self._faults if one["function"] == name and one["nth"] == nth)
        return next(struck, None)


def numbers(instance: int) -> Callable[[int], bytes]:
    """The random bytes of an instance."""
    drawn = 0

    def draw(length: int) -> bytes:
        nonlocal drawn
        taken = b""
        while len(taken) < length:
            drawn += 1
            number = ((instance << 32) + drawn) * 0x9E3779B97F4A7C15 % (1 << 64)
            taken += number.to_bytes(8, "big")
        return taken[:length]

    return draw


def fill(store: Storage, content: dict[str, Any]) -> None:
    writes: list[Write] = [Put(key, value) for key, value in content.get("records", {}).items()]
    for log, values in content.get("logs", {}).items():
        writes += [Append(log, at + 1, value) for at, value in enumerate(values)]
    for owner, parts in content.get("texts", {}).items():
        writes += [IndexText(owner, int(part), tokens) for part, tokens in parts.items()]
    store.commit([], writes, "relaxed")


def content_of(store: Storage, without_text_search: bool) -> dict[str, Any]:
    """All that a store holds, as a case has it."""
    owners = [] if without_text_search else store.text_owners(None, ALL)
    logs = {log: store.read_log(log, 1, ALL, ALL).entries for log in store.log_names(None, ALL)}
    texts = {owner: store.read_texts(owner, 0, ALL, ALL).texts for owner in owners}
    return {
        "records": {one.key: one.value for one in store.scan("", "\x80", False, ALL, ALL).entries},
        "logs": {
            log: [one.value for one in entries] for log, entries in logs.items() if entries
        },
        # Some that had texts may be named too.
        "texts": {owner: {str(one.part): one.tokens for one in parts} for owner, parts in texts.items() if parts},
    }


class Player:
    def __init__(self, loaded: Loaded, case: dict[str, Any], store: Optional[Storage] = None) -> None:
        self._loaded = loaded
        self._case = case
        self._store = MemoryStore() if store is None else store
        self._without_text_search = case.get("without-text-search", False)
        self._faulty = Faulty(self._store, self._without_text_search)
        self._instances: dict[int, Instance] = {}
        self._memos: dict[int, dict[str, str]] = {}
        self._now = 0

    def play(self) -> dict[str, Any]:
        """The case as it comes out: the same steps with what they return now, and what the storage holds in the end."""
        fill(self._store, self._case.get("start", {}))
        steps = [self._step(step) for step in self._case["steps"]]
        return {**self._case, "steps": steps, "end": content_of(self._store, self._without_text_search)}

    def _step(self, step: dict[str, Any]) -> dict[str, Any]:
        played = {name: value for name, value in step.items() if name not in ("returns", "pulls")}
        self._now = step.get("now", self._now)
        faults = step.get("faults", [])
        self._faulty.arm(faults)
        name, given = case_of(step["call"])
        number = step.get("instance")
        is_lost = any(isinstance(fault["flaw"], str) for fault in faults)
        try:
            returns = self._call(number, name, given or {})
            assert not is_lost, "the instance was to be lost"
        except Failed as failed:
            returns = {"error": to_json(failed.error)}
        except Lost:
            if not is_lost:
                raise
            returns = None
        self._faulty.arm([])
        if returns is not None:
            played["returns"] = returns
        if "pulls" in step:
            played["pulls"] = [self._call(number, "pull", {}) for _ in step["pulls"]]
        return played

    def _make(self, number: int) -> Instance:
        limits = Limits(1 << 30, 600)
        store: Any = self._faulty
        return Instance(self._loaded, store, lambda: self._now / 1000, numbers(number), limits)

    def _call(self, number: Optional[int], name: str, given: dict[str, Any]) -> Any:
        if name == "commit":
            writes = [self._write(*case_of(write)) for write in given["writes"]]
            return self._store.commit([], writes, "durable")
        if name not in ("connect", "receive", "pull", "idle", "peer-closed", "agent-restarted"):
            return {"ok": to_json(self._typed(number, name, given))}
        assert number is not None
        if name == "connect":
            return self._connect(number, given)
        if name in ("receive", "pull"):
            lines = [arrivals(given["arrivals"])] if name == "receive" else []
            return self._taken(number, name, *lines, given.get("client-room", ANY_ROOM))
        return self._instances[number].call(CONNECTION, name, *given.values())

    def _write(self, name: str, value: Any) -> Write:
        return Remove(value) if name == "remove" else WRITES[name](**value)

    def _connect(self, number: int, given: dict[str, Any]) -> None:
        kept = self._memos[given["after"]] if "after" in given else dict(given.get("kept", []))
        self._memos[number] = dict(kept)
        self._instances[number] = self._make(number)
        self._instances[number].call(
            CONNECTION,
            "connect",
            [record(name=name, value=value) for name, value in given.get("settings", [])],
            [record(key=key, value=value) for key, value in sorted(kept.items())],
            arrivals(given.get("lost", [])),
        )

    def _taken(self, number: int, name: str, *arguments: Any) -> dict[str, Any]:
        """A `step` without what is empty or false. What it wants kept, is."""
        step = self._instances[number].call(CONNECTION, name, *arguments)
        memos = self._memos[number]
        for memo in (output.payload for output in step.outputs if output.tag == "keep"):
            if memo.value is None:
                memos.pop(memo.key, None)
            else:
                memos[memo.key] = memo.value
        return {name: value for name, value in to_json(step).items() if value}

    def _typed(self, number: Optional[int], name: str, given: dict[str, Any]) -> Any:
        if "criteria" in given:
            usual = {"cwds": [], "archived": "hidden", "subagents": False, "include-worktrees": False}
            names = ("created-after", "created-before", "updated-after", "search")
            criteria = {**dict.fromkeys(names), **usual, **given["criteria"]}
            given = {**given, "criteria": record(**criteria)}
        instance = self._make(0) if number is None else self._instances[number]
        return instance.call(SESSIONS, name, *given.values())
