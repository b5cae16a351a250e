"""What is left of a line that is not kept whole."""

from __future__ import annotations

# Of a line that is too long, this much is kept of its beginning and of its end, to say which it was.
HEAD = 4096
TAIL = 1024


def ends(line: bytes) -> tuple[bytes, bytes]:
    """What is kept of a line at its beginning, and at its end behind that."""
    return line[:HEAD], line[HEAD:][-TAIL:]


def joined(head: str, tail: bytes) -> str:
    """What lacks its middle has a line feed there, which no line has."""
    return f"{head}\n{tail.decode('utf-8', 'replace')}" if tail else head


def without_middle(line: bytes) -> str:
    """The beginning of a line and its end, as well as they can be read."""
    head, tail = ends(line)
    return joined(head.decode("utf-8", "replace"), tail)
