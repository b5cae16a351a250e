"""What an engine costs: to start, a line that passes through, an update that is recorded. The best of some rounds."""

import json
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

from acp_sessions import Arrival, Engine, FileStore, MemoryStore, Peer, Storage

ROUNDS = 7


def line(**message: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", **message})


def best(times: int, run: Callable[[int], Any]) -> float:
    """In microseconds each time."""
    found = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for nth in range(times):
            run(nth)
        found = min(found, (time.perf_counter() - start) / times)
    return found * 1e6


def main() -> None:
    start = time.perf_counter()
    engine = Engine(MemoryStore())
    print(f"the first engine      {(time.perf_counter() - start) * 1e3:8.1f} ms")
    print(f"another               {best(20, lambda _: Engine(MemoryStore())) / 1e3:8.1f} ms")

    say(engine, "client", id=0, method="initialize", params={"protocolVersion": 1})
    say(engine, "agent", id=0, result={"protocolVersion": 1, "agentCapabilities": {}})
    passed = [Arrival("client", line(method="_x/y", params={"text": "x" * 120}))]
    print(f"a line that passes    {best(1000, lambda _: engine.receive(passed)):8.1f} µs")
    many = passed * 100
    print(f"one of a hundred      {best(20, lambda _: engine.receive(many)) / 100:8.1f} µs")
    print(f"a recorded update     {recorded(MemoryStore()):8.1f} µs")
    with tempfile.TemporaryDirectory() as folder, FileStore(Path(folder) / "sessions.db") as store:
        print(f"the same in a file    {recorded(store):8.1f} µs")


def say(engine: Engine, peer: Peer, **message: Any) -> None:
    engine.receive([Arrival(peer, line(**message))])


def recorded(store: Storage) -> float:
    """What an update costs, in microseconds: a commit for each hundred."""
    engine = Engine(store)
    say(engine, "client", id=0, method="initialize", params={"protocolVersion": 1})
    say(engine, "agent", id=0, result={"protocolVersion": 1, "agentCapabilities": {}})
    say(engine, "client", id=1, method="session/new", params={"cwd": "/home/x", "mcpServers": []})
    say(engine, "agent", id=1, result={"sessionId": "s1"})
    prompt = [{"type": "text", "text": "Go"}]
    say(engine, "client", id=2, method="session/prompt", params={"sessionId": "s1", "prompt": prompt})
    content = {"type": "text", "text": "some words of an answer that goes on "}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    told = [Arrival("agent", line(method="session/update", params={"sessionId": "s1", "update": update}))]

    def record(nth: int) -> None:
        engine.receive(told)
        if nth % 100 == 0:
            engine.idle()

    return best(1000, record)


main()
