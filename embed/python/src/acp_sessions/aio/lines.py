"""Cuts a stream of bytes into lines, without ever holding more than the longest one allowed."""

from __future__ import annotations

from typing import Optional

from ..exchange import Arrival, Peer
from ..shortened import HEAD, TAIL, ends, joined, without_middle

_BLANK = b" \t\n\f\r"


class Lines:
    def __init__(self, peer: Peer, limit: int) -> None:
        """Of a side whose lines may have up to `limit` bytes."""
        self._peer = peer
        self._limit = limit
        # What has come of the current line; only its head once it is over the limit.
        self._partial = bytearray()
        self._is_too_long = False
        # The end of what is passed over then, as far as it has come.
        self._tail = b""

    def push(self, data: bytes) -> list[Arrival]:
        """The lines that the next bytes complete."""
        *ended, rest = data.split(b"\n")
        complete = []
        for end in ended:
            self._extend(end)
            complete.append(self._take())
        self._extend(rest)
        return [line for line in complete if line is not None]

    def finish(self) -> list[Arrival]:
        """The stream has ended: what came after the last line end, if anything did."""
        line = self._take()
        return [] if line is None else [line]

    def _extend(self, data: bytes) -> None:
        # A carriage return before the line end does not count, and may be the last byte so far.
        if not self._is_too_long and len(self._partial) + len(data) <= self._limit + 1:
            self._partial += data
            return
        if not self._is_too_long:
            self._is_too_long = True
            head, self._tail = ends(bytes(self._partial))
            self._partial = bytearray(head)
        missing = HEAD - len(self._partial)
        self._partial += data[:missing]
        self._tail = (self._tail + data[missing:][-TAIL:])[-TAIL:]

    def _take(self) -> Optional[Arrival]:
        line, tail, is_too_long = bytes(self._partial), self._tail, self._is_too_long
        self._partial, self._tail, self._is_too_long = bytearray(), b"", False
        if is_too_long or (len(line) > self._limit and not line.endswith(b"\r")):
            head, tail = (line, tail) if is_too_long else ends(line)
            # Up to the last whole character.
            return Arrival(self._peer, joined(head.decode("utf-8", "ignore"), tail), "too-long")
        line = line.removesuffix(b"\r")
        if not line.strip(_BLANK):
            return None
        try:
            return Arrival(self._peer, line.decode())
        except UnicodeDecodeError:
            return Arrival(self._peer, self._as_text(line), "not-text")

    def _as_text(self, line: bytes) -> str:
        """As well as it can be read; where that is over the limit, as much as of a line that is too long."""
        text = line.decode("utf-8", "replace")
        return text if len(text.encode()) <= self._limit else without_middle(line)
