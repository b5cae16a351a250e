"""What an engine and whoever embeds it give each other: the interface ``connection`` of ``wit/world.wit``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Peer = Literal["client", "agent"]
Kind = Literal["line", "too-long", "not-text", "not-bearable"]


@dataclass(frozen=True, slots=True)
class Arrival:
    """A line that arrived, without its line end; where it is of another kind, what is left of it."""

    peer: Peer
    line: str
    kind: Kind = "line"


@dataclass(frozen=True, slots=True)
class Output:
    """A line to send, without its line end."""

    peer: Peer
    line: str


@dataclass(frozen=True, slots=True)
class Step:
    """Lines to send, in order. What the engine wants kept and what it warns of is seen to already."""

    outputs: list[Output]
    more: bool
    held: bool
    full: bool


class EngineError(Exception):
    """The engine cannot go on: it was lost again and again."""


class Refused(Exception):
    """
    What was asked for was refused. ``tag`` says by which error of the WIT: ``bad-setting``, ``invalid``, ``not-found``,
    ``storage`` or ``not-yet``; ``text`` says what was wrong.
    """

    def __init__(self, tag: str, text: str) -> None:
        super().__init__(f"{tag}: {text}")
        self.tag = tag
        self.text = text
