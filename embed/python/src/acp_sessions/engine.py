"""The engine of one connection, which outlives its instances."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import Any, Callable, Literal, Mapping, Optional, Sequence, Union

from wasmtime.component import Variant

from .exchange import Arrival, EngineError, Output, Peer, Refused, Step
from .folders import Folders
from .imports import record
from .instance import CONNECTION, Failed, Instance, Limits, Lost
from .load import Loaded, load, usual_cache
from .refusals import refusals
from .sessions import Sessions
from .shortened import without_middle
from .storage import Storage

# How often in a row an instance is replaced without anything new having arrived.
MOST_RESTARTS = 3
# How long what streams in may wait to be written, where no setting says so: in milliseconds.
FLUSH_MS = 100
# Room for whatever comes.
ANY_ROOM = 0xFFFFFFFF
MIB = 1 << 20


class Engine:
    """
    The engine of one connection, driven as the WIT says of its interface `connection`; `sessions` is the typed interface.

    An instance that is lost, to a trap, to an exception of the store or to a call that takes too long, is replaced: what was
    being worked on is answered with an error (-32603), all else goes on. Where four instances in a row were lost, a function raises
    `EngineError`, and the connection is at an end. An argument that is none is a `TypeError` or a `ValueError`, and nothing has happened. For
    one thread at a time.

    `settings` are listed in the project's `docs/embedding.md`. `now` is the time in seconds since 1970, `random` gives as many random bytes as
    it is asked for, `warn` is told what no peer can be told, `folders` knows of folders what there is to be known. `seconds` is what a call may take, time in the store included: it
    is stopped within a second after that. `memory`, `output` and `memos` are what an instance may use, in bytes. `cache` is the folder
    in which the compiled engine is kept, if not the usual one; `None` compiles it once for each process. `loaded` is another engine.

    Raises `Refused` where a setting is unknown or has a bad value, or the store fails; `ValueError` where it cannot be made with what it may
    use, or `now` tells no time; `EngineError` where it is lost as it is made.
    """

    def __init__(
        self,
        store: Storage,
        settings: Mapping[str, Union[str, int]] = {},
        *,
        now: Callable[[], float] = time.time,
        random: Callable[[int], bytes] = os.urandom,
        warn: Callable[[str], None] = lambda text: None,
        folders: Folders = Folders(),
        seconds: int = 60,
        memory: int = 768 * MIB,
        output: int = 256 * MIB,
        memos: int = 256 * MIB,
        cache: Union[Path, Literal["usual"], None] = "usual",
        loaded: Optional[Loaded] = None,
    ) -> None:
        _check_limits(memory=memory, seconds=seconds, output=output, memos=memos)
        if not math.isfinite(now()):
            raise ValueError("`now` tells no time")
        component = loaded or load(usual_cache() if cache == "usual" else cache)
        limits = Limits(memory, seconds)
        self._make: Callable[[], Instance] = lambda: Instance(component, store, now, random, limits, folders)
        self._settings = [record(name=name, value=str(value)) for name, value in settings.items()]
        self._warn = warn
        self._most_output = output
        self._most_memos = memos
        self._kept: dict[str, str] = {}
        self._kept_bytes = 0
        # Given to the instance, and what follows from it was not pulled yet.
        self._unfinished: list[Arrival] = []
        self._closed: list[Peer] = []
        # How the agent has ended that was started again, while what follows from that was not pulled yet.
        self._restarted: Optional[str] = None
        self._losses = 0
        # The requests among what is unfinished, as long as it may come to be dropped; and those that were.
        self._asked: list[Output] = []
        self._refused: list[Output] = []
        # None once it cannot be replaced.
        self._instance: Optional[Instance] = None
        try:
            instance = self._make()
        except Lost as lost:
            raise ValueError(f"the session engine cannot be made with this: {lost}") from lost
        try:
            self._connect(instance, [])
        except Lost as lost:
            raise EngineError(f"the session engine failed as the connection was opened: {lost}") from lost
        self._instance = instance
        # After an arrival `idle` is to be called within so many milliseconds.
        self.flush_ms = int(settings.get("flush-ms", FLUSH_MS))
        self.sessions = Sessions(self._make)

    def receive(self, arrivals: Sequence[Arrival], client_room: int = ANY_ROOM) -> Step:
        self._losses = 0
        try:
            received = self._call("receive", _arrivals(arrivals), client_room)
        except Exception:
            # Nothing was handed over.
            raise
        except BaseException:
            self._unfinished = list(arrivals)
            raise
        # Until what follows is taken: that may be too much.
        self._unfinished = list(arrivals)
        return self._take_step(received, client_room)

    def pull(self, client_room: int = ANY_ROOM) -> Step:
        return self._take_step(self._call("pull", client_room), client_room)

    def peer_closed(self, peer: Peer) -> None:
        if peer in self._closed:
            return
        closed = self._call("peer-closed", peer)
        self._closed.append(peer)
        self._recover(closed)

    def agent_restarted(self, how: str) -> None:
        told = self._call("agent-restarted", how)
        self._restarted = how
        self._recover(told)

    def idle(self) -> Optional[int]:
        """After how many milliseconds it wants to be called again."""
        again: Optional[int] = self._recover(self._call("idle"))
        return again

    def take_refused(self) -> list[Output]:
        """After an `EngineError`, the answers to those who asked what it failed at. Only once."""
        refused, self._refused = self._refused, []
        return refused

    def _call(self, name: str, *arguments: Any) -> Any:
        """What a call returns, or the `Lost` with which the instance was lost in it."""
        if self._instance is None:
            raise EngineError("the session engine was lost before")
        try:
            return self._instance.call(CONNECTION, name, *arguments)
        except Lost as lost:
            return lost

    def _take_step(self, called: Any, client_room: int) -> Step:
        """What a call says is to be done; where the instance was lost in it, what the next one says."""
        while True:
            if not isinstance(called, Lost) and not self._is_bounded(called):
                called = Lost("it says or keeps more than it may")
            step = self._recover(called)
            if step is not None:
                return self._taken(step)
            called = self._call("pull", client_room)

    def _taken(self, step: Any) -> Step:
        # All that follows from what was received is in it; what comes later is replays, and the memos tell of those.
        self._unfinished, self._asked, self._restarted = [], [], None
        outputs: list[Output] = []
        for output in step.outputs:
            if output.tag == "keep":
                self._keep(output.payload.key, output.payload.value)
            elif output.tag == "warn":
                self._warn(output.payload)
            else:
                outputs.append(Output("client" if output.tag == "to-client" else "agent", output.payload))
        outputs += self.take_refused()
        return Step(outputs, step.more, step.held, step.full)

    def _keep(self, key: str, value: Optional[str]) -> None:
        before = self._kept.pop(key, None)
        if before is not None:
            self._kept_bytes -= len(key.encode()) + len(before.encode())
        if value is not None:
            self._kept[key] = value
            self._kept_bytes += len(key.encode()) + len(value.encode())

    def _is_bounded(self, step: Any) -> bool:
        said, kept = 0, self._kept_bytes
        for output in step.outputs:
            if output.tag == "keep":
                kept += len(output.payload.key.encode()) + len((output.payload.value or "").encode())
            else:
                said += len(output.payload.encode())
        return said <= self._most_output and kept <= self._most_memos

    def _recover(self, called: Any) -> Any:
        """What a call returned; nothing if the instance was lost in it and another has taken its place."""
        if not isinstance(called, Lost):
            return called
        self._replace(called)
        return None

    def _replace(self, lost: Lost) -> None:
        while True:
            self._losses += 1
            self._warn(f"the session engine is started anew ({self._losses}): {lost}")
            self._instance = None
            if self._losses > MOST_RESTARTS:
                raise EngineError(f"the session engine failed {MOST_RESTARTS + 1} times in a row: {lost}") from lost
            if self._losses > 1:
                self._shorten()
            try:
                instance = self._make()
                self._take_up(instance)
            except Lost as again:
                lost = again
                continue
            self._instance = instance
            return

    def _shorten(self) -> None:
        """
        What the next instance is told of lines that one was lost with as it was told of them: their beginnings and ends, which tell
        whose request fails. Of those nothing: who asked is answered here.
        """
        if all(arrival.kind == "not-bearable" for arrival in self._unfinished):
            if self._unfinished:
                self._warn(f"{len(self._unfinished)} lines were dropped")
            self._refused += self._asked
            self._unfinished, self._asked = [], []
            return
        # Of these it cannot be told what was asked.
        self._asked = refusals(self._unfinished)
        self._unfinished = [Arrival(of.peer, _shortened(of.line), "not-bearable") for of in self._unfinished]

    def _take_up(self, instance: Instance) -> None:
        self._connect(instance, self._unfinished)
        if self._restarted is not None:
            instance.call(CONNECTION, "agent-restarted", self._restarted)
        for peer in self._closed:
            instance.call(CONNECTION, "peer-closed", peer)

    def _connect(self, instance: Instance, lost: Sequence[Arrival]) -> None:
        kept = [record(key=key, value=value) for key, value in sorted(self._kept.items())]
        try:
            instance.call(CONNECTION, "connect", self._settings, kept, _arrivals(lost))
        except Failed as failed:
            raise Refused(failed.error.tag, failed.error.payload) from None


def _check_limits(**limits: int) -> None:
    for name, limit in limits.items():
        if not isinstance(limit, int):
            raise TypeError(f"`{name}` is a whole number, and not {limit!r}")
        if limit < 1:
            raise ValueError(f"`{name}` is to be more than 0, and is {limit}")


def _arrivals(arrivals: Sequence[Arrival]) -> list[Any]:
    for of in arrivals:
        if not isinstance(of, Arrival):
            raise TypeError(f"what arrives is an Arrival, and not {of!r}")
    return [record(peer=of.peer, content=Variant(of.kind, of.line)) for of in arrivals]


def _shortened(line: str) -> str:
    """The beginning of a line and its end. What is over the limit is shortened already, which a line feed tells."""
    return line if "\n" in line else without_middle(line.encode("utf-8", "surrogatepass"))
