"""
An engine in this process that is played to, over a store in memory or in the file that is named: ``python bench/play.py [FILE]``

What is played are parts of ``bench/workload.json``, as ``cargo xtask bench embeds`` sends them: one JSON a line, each of which is answered.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass
from typing import Optional

from acp_sessions import Arrival, Engine, FileStore, MemoryStore, Peer, Step


@dataclass
class Part:
    """One line after the other, and all of them so many ``times``; what follows is taken, in pieces of so much ``room``."""

    lines: list[tuple[Peer, str]]
    room: int
    times: int = 1
    # After how many lines it is time for that; 0 is never.
    idle: int = 0
    # Whether what the engine asks of the agent by itself is answered.
    answered: bool = False


@dataclass
class Played:
    """How long it took in milliseconds, how many lines came out, and the last one for the client."""

    ms: float = 0
    lines: int = 0
    last: Optional[str] = None


def play(engine: Engine, part: Part) -> Played:
    arrivals = [Arrival(peer, line) for peer, line in part.lines]
    played = Played()
    asked: list[str] = []

    def take(step: Step) -> None:
        while True:
            for output in step.outputs:
                played.lines += 1
                if output.peer == "client":
                    played.last = output.line
                elif part.answered:
                    asked.append(output.line)
            if not step.more:
                return
            step = engine.pull(part.room)

    until_idle = part.idle
    start = time.perf_counter()
    for _ in range(part.times):
        for arrival in arrivals:
            take(engine.receive([arrival], part.room))
            while asked:
                take(engine.receive([answer_to(asked.pop(0))], part.room))
            until_idle -= 1
            if until_idle == 0:
                engine.idle()
                until_idle = part.idle
    played.ms = (time.perf_counter() - start) * 1e3
    return played


def answer_to(line: str) -> Arrival:
    """That of an agent that does whatever it is asked."""
    return Arrival("agent", json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {}}))


def main() -> None:
    engine = Engine(FileStore(sys.argv[1]) if len(sys.argv) > 1 else MemoryStore())
    for command in sys.stdin:
        print(json.dumps(asdict(play(engine, Part(**json.loads(command))))), flush=True)


main()
