"""What an engine costs: to start, a line that passes through, an update that is recorded. The best of some rounds."""

import json
import time
from typing import Any, Callable

from acp_sessions import Arrival, Engine, MemoryStore, Peer

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

    def say(peer: Peer, **message: Any) -> None:
        engine.receive([Arrival(peer, line(**message))])

    say("client", id=0, method="initialize", params={"protocolVersion": 1})
    say("agent", id=0, result={"protocolVersion": 1, "agentCapabilities": {}})
    say("client", id=1, method="session/new", params={"cwd": "/home/x", "mcpServers": []})
    say("agent", id=1, result={"sessionId": "s1"})
    passed = [Arrival("client", line(method="_x/y", params={"text": "x" * 120}))]
    print(f"a line that passes    {best(1000, lambda _: engine.receive(passed)):8.1f} µs")
    many = passed * 100
    print(f"one of a hundred      {best(20, lambda _: engine.receive(many)) / 100:8.1f} µs")
    say("client", id=2, method="session/prompt", params={"sessionId": "s1", "prompt": [{"type": "text", "text": "Go"}]})
    content = {"type": "text", "text": "some words of an answer that goes on "}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    told = [Arrival("agent", line(method="session/update", params={"sessionId": "s1", "update": update}))]

    def record(nth: int) -> None:
        engine.receive(told)
        if nth % 100 == 0:
            engine.idle()

    print(f"a recorded update     {best(1000, record):8.1f} µs")


main()
