"""Moves lines between the two sides and the engine, as `host/src/runner/connection.rs` does."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Callable, Coroutine, Optional, TypeVar

from ..engine import Engine
from ..exchange import Arrival, EngineError, Output, Peer, Step
from .lines import Lines
from .streams import Outbox, Streams

MIB = 1 << 20

# The longest line of each side, in bytes; of a longer one only the head is kept.
LONGEST: dict[Peer, int] = {"client": 16 * MIB, "agent": 64 * MIB}
# Bytes that are read at once.
CHUNK = 64 << 10
# Replays may fill what waits for the client up to here.
CLIENT_ROOM = 256 << 10
# With more than this waiting for one side, nothing more is taken from the other.
HIGH_WATER = 4 * MIB
# With more than this waiting for it, nothing more is taken from a client that asks and does not read the answers.
# More than the longest line of an agent: a client that waits for us to read before it reads itself gets by with less.
CLIENT_MOST = 68 * MIB
# With more than this waiting for the agent, nothing more is pulled.
AGENT_MOST = 80 * MIB

# Seconds: what a side has not read this long after everything else has ended is lost; an agent that takes nothing any more has as long to
# end its output.
LAST_WORDS = 0.5

Returned = TypeVar("Returned")


async def session_layer(
    make: Callable[[], Engine],
    client: Streams,
    agent: Streams,
    *,
    agent_grace: float = 10.0,
) -> Peer:
    """
    Stands between a client and an agent until one of them has ended; says which. `make` makes the engine. That and all of the engine's
    calls happen in a thread of their own, its store's work included, so that the loop goes on meanwhile.

    A side is not read while the other does not read what it is told. After an arrival what was recorded is written within the
    engine's setting `flush-ms`. When the client ends its output, what it has asked is passed on, as far as that does not wait for the agent longer
    than half a second, the agent's input is ended, and the agent has what is left of `agent_grace` seconds for what it has to say yet.
    When the agent ends its output, what was open is answered with an error. Both writers are closed when this returns. Where it is
    cancelled, however often, what was recorded is written first.

    Raises `EngineError` where the engine was lost again and again, and what `make` raises.
    """
    thread = ThreadPoolExecutor(1, "acp-sessions")
    try:
        layer = _Layer(thread, client, agent)
        await layer.open(make)
        return await layer.serve(agent_grace)
    finally:
        # Nothing runs in it by now.
        thread.shutdown(wait=False)
        for streams in (client, agent):
            streams.writer.close()


class _Layer:
    def __init__(self, thread: ThreadPoolExecutor, client: Streams, agent: Streams) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = thread
        self._sides = {"client": client, "agent": agent}
        self._to_client = Outbox(client.writer, self._change)
        self._to_agent = Outbox(agent.writer, self._change)
        # One call at a time, and what it returns is queued before the next.
        self._turn = asyncio.Lock()
        # What the engine has said that it has: more to pull, lines that the agent may have to see, too much of the client's.
        self._has_more = self._has_held = self._is_full = False
        # When the engine is told next that time has passed.
        self._told_at: Optional[float] = None
        self._waiting: list[asyncio.Future[None]] = []

    async def open(self, make: Callable[[], Engine]) -> None:
        self._engine = await self._in_thread(make)
        self._told_at = self._loop.time() + self._engine.flush_ms / 1000

    async def serve(self, agent_grace: float) -> Peer:
        from_client = self._start(self._hear("client"))
        from_agent = self._start(self._hear("agent"))
        clock = self._start(self._pass_time())
        to_client, to_agent = self._start(self._to_client.run()), self._start(self._to_agent.run())
        tasks = [from_client, from_agent, clock, to_client, to_agent]

        def is_agent_gone() -> bool:
            return from_agent.done() or clock.done()

        def is_client_gone() -> bool:
            return from_client.done() or to_client.done()

        try:
            await self._until(lambda: is_client_gone() or is_agent_gone() or to_agent.done())
            first: Peer = "client" if is_client_gone() and not is_agent_gone() else "agent"
            if first == "client":
                from_client.cancel()
                self._loop.call_later(LAST_WORDS, self._leave_client)
                end = self._loop.time() + agent_grace
                # What it has sent before it left is done first, as long as it may read the answers. What waits for the agent longer than
                # that is for nobody: it need not keep that from the end of its input.
                await self._until(lambda: not self._has_held or is_agent_gone(), min(LAST_WORDS, agent_grace))
                await self._whole(self._close("client"))
                self._to_agent.close()
                await self._until(is_agent_gone, end - self._loop.time())
            else:
                await self._until(is_agent_gone, LAST_WORDS)
            for task in (clock, from_client, from_agent):
                await _ended(task)
            return first
        except EngineError:
            for refused in self._engine.take_refused():
                self._send(refused)
            raise
        finally:
            await _to_its_end(self._loop.create_task(self._finish(tasks)))

    async def _finish(self, tasks: list[asyncio.Task[None]]) -> None:
        """Does all that is left: of the tasks, two write, and end when what waits is written."""
        *others, to_client, to_agent = tasks
        for task in others:
            task.cancel()
        await self._settle()
        self._to_client.close()
        self._to_agent.close()
        await self._until(lambda: to_client.done() and to_agent.done(), LAST_WORDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _leave_client(self) -> None:
        self._to_client.close()
        self._change()

    async def _settle(self) -> None:
        """Nothing more comes from either side: what is open is answered and written."""
        peers: tuple[Peer, Peer] = ("agent", "client")
        for peer in peers:
            # Where it was lost, that has been said.
            with suppress(EngineError):
                await self._whole(self._close(peer))

    async def _close(self, peer: Peer) -> None:
        async with self._turn:
            await self._in_thread(lambda: self._engine.peer_closed(peer))
            self._take(await self._in_thread(lambda: self._engine.pull(self._room())))

    async def _hear(self, peer: Peer) -> None:
        """Takes what there is of one side, to its end."""
        reader, lines = self._sides[peer].reader, Lines(peer, LONGEST[peer])
        while True:
            await self._until(lambda: self._is_wanted(peer))
            try:
                data = await reader.read(CHUNK)
            except OSError:
                data = b""
            arrivals = lines.push(data) if data else lines.finish()
            if arrivals:
                await self._whole(self._receive(arrivals))
            if not data:
                return

    async def _receive(self, arrivals: list[Arrival]) -> None:
        async with self._turn:
            soon = self._loop.time() + self._engine.flush_ms / 1000
            self._told_at = soon if self._told_at is None else min(self._told_at, soon)
            self._take(await self._in_thread(lambda: self._engine.receive(arrivals, self._room())))

    async def _pass_time(self) -> None:
        """Tells the engine that time has passed when it wants to know, and pulls what there is room for."""
        while True:
            told_at = self._told_at
            wait = None if told_at is None else told_at - self._loop.time()
            await self._until(lambda: self._is_more_to_pull() or self._told_at != told_at, wait)
            if self._is_due() or self._is_more_to_pull():
                await self._whole(self._go_on())

    async def _go_on(self) -> None:
        async with self._turn:
            if self._is_due():
                again = await self._in_thread(self._engine.idle)
                self._told_at = None if again is None else self._loop.time() + again / 1000
            self._take(await self._in_thread(lambda: self._engine.pull(self._room())))

    def _is_due(self) -> bool:
        return self._told_at is not None and self._told_at <= self._loop.time()

    def _is_wanted(self, peer: Peer) -> bool:
        """
        The agent is never kept from speaking by what waits for itself: it may have to finish speaking before it listens. What a
        client that has gone has left unread must not keep the agent from finishing.
        """
        if peer == "agent":
            return self._to_client.is_closed or self._to_client.queued <= HIGH_WATER
        if self._is_full or self._to_client.queued > CLIENT_MOST:
            return False
        return self._to_agent.queued <= HIGH_WATER

    def _is_more_to_pull(self) -> bool:
        """Whether so much was read that the engine may go on with a replay."""
        has_room = self._to_client.queued < CLIENT_ROOM // 2 and self._to_agent.queued <= AGENT_MOST
        return self._has_more and has_room

    def _room(self) -> int:
        return max(0, CLIENT_ROOM - self._to_client.queued)

    def _take(self, step: Step) -> None:
        for output in step.outputs:
            self._send(output)
        self._has_more, self._has_held, self._is_full = step.more, step.held, step.full
        self._change()

    def _send(self, output: Output) -> None:
        (self._to_client if output.peer == "client" else self._to_agent).add(output.line)

    async def _in_thread(self, call: Callable[[], Returned]) -> Returned:
        """Where this is cancelled, it ends when the call has."""
        return await _to_its_end(self._loop.run_in_executor(self._thread, call))

    async def _whole(self, work: Coroutine[Any, Any, None]) -> None:
        """Work that is done to its end though whoever waits for it is cancelled: what the engine has said is not lost."""
        task = self._loop.create_task(work)
        # It may be that nobody asks any more what came of it.
        task.add_done_callback(lambda task: None if task.cancelled() else task.exception() and None)
        await asyncio.shield(task)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(work)
        task.add_done_callback(lambda _: self._change())
        return task

    def _change(self) -> None:
        """Something that may be waited for has happened."""
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def _until(self, is_so: Callable[[], bool], seconds: Optional[float] = None) -> None:
        """Waits until something is so, or for so many seconds."""
        end = None if seconds is None else self._loop.time() + seconds
        while not is_so():
            left = None if end is None else end - self._loop.time()
            if left is not None and left <= 0:
                return
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._waiting.append(waiter)
            await asyncio.wait([waiter], timeout=left)


async def _to_its_end(work: asyncio.Future[Returned]) -> Returned:
    """Waits for its end, however often whoever waits is cancelled meanwhile, which counts when it has come."""
    cancelled: Optional[asyncio.CancelledError] = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return work.result()
    # What it has failed with is nobody's any more.
    work.exception()
    raise cancelled


async def _ended(task: asyncio.Task[None]) -> None:
    """Raises what a task was ended by, if it has ended."""
    if task.done() and not task.cancelled():
        await task
