"""What a side reads and writes."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Callable, NamedTuple


class Streams(NamedTuple):
    """What comes from one side, and what goes to it: what `acp.stdio_streams` returns, or a process's output and input."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


async def stream_pair() -> tuple[Streams, Streams]:
    """Both ends of a connection within this process: what is written at one is read at the other."""
    ends = socket.socketpair()
    here, there = [Streams(*await asyncio.open_connection(sock=end)) for end in ends]
    return here, there


class Outbox:
    """
    What waits for one side. `add` takes everything; `run` writes it as fast as the side takes it, to the end that `close` or the side
    makes. `room` is called as there is more room.
    """

    # Bytes that are written at once.
    _CHUNK = 256 << 10

    def __init__(self, writer: asyncio.StreamWriter, room: Callable[[], None]) -> None:
        self._writer = writer
        self._room = room
        self._lines: list[bytes] = []
        self._filled = asyncio.Event()
        self.is_closed = False
        # Bytes that it has not taken yet.
        self.queued = 0

    def add(self, line: str) -> None:
        """Queues a line; a side that takes nothing any more is told nothing."""
        if not self.is_closed:
            self._lines.append(line.encode() + b"\n")
            self.queued += len(self._lines[-1])
            self._filled.set()

    def close(self) -> None:
        """No more comes than waits by now."""
        self.is_closed = True
        self._filled.set()

    async def run(self) -> None:
        """To the last byte. Raises `OSError` where the side takes nothing any more; where it is cancelled, what waits is dropped."""
        # So that `drain` waits for all that was written. One that waits in `write` need not be told.
        with suppress(AttributeError):
            self._writer.transport.set_write_buffer_limits(0)
        try:
            while self._lines or not self.is_closed:
                await self._filled.wait()
                await self._write_some()
            # Not `close` if that can be had: it may end what comes from the side too.
            if self._writer.can_write_eof():
                self._writer.write_eof()
            else:
                self._writer.close()
        except BaseException:
            # What the system has not taken of it would keep it from being closed.
            self._writer.transport.abort()
            raise
        finally:
            self.is_closed = True
            self._lines, self.queued = [], 0

    async def _write_some(self) -> None:
        self._filled.clear()
        lines, self._lines = self._lines, []
        data = b"".join(lines)
        for at in range(0, len(data), self._CHUNK):
            chunk = data[at : at + self._CHUNK]
            self._writer.write(chunk)
            await self._writer.drain()
            self.queued -= len(chunk)
            self._room()
