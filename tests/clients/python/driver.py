"""driver.py AGENT ARGS…

Performs steps with the official Python SDK: reads one a line from its input, and writes for each a line that says what
the SDK gave. What a step is and what must come of it is written in tests/src/clients/.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, spawn_agent_process
from acp.connection import StreamDirection, StreamEvent
from acp.schema import Implementation, RequestPermissionResponse, TextContentBlock
from pydantic import BaseModel


async def next_step() -> dict[str, Any] | None:
    """The next step, or nothing at the end of the story."""
    line = await asyncio.to_thread(sys.stdin.readline)
    return json.loads(line) if line else None


def as_sent(value: Any) -> Any:
    """What the SDK gave, by the protocol's names."""
    return value.model_dump(mode="json", by_alias=True, exclude_none=True) if isinstance(value, BaseModel) else value


class Seat:
    """The client's side of one conversation."""

    def __init__(self) -> None:
        self.connection: Any = None
        # Updates that were not reported yet.
        self.updates: list[dict[str, Any]] = []
        self.told = asyncio.Event()
        # How many updates came that the SDK has not handed out yet.
        self.due = 0
        # The prompt that was sent and not waited for.
        self.turn: asyncio.Future[Any] | None = None

    def overhear(self, event: StreamEvent) -> None:
        if event.direction == StreamDirection.INCOMING and event.message.get("method") == "session/update":
            self.due += 1

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append({"sessionId": session_id, "update": as_sent(update)})
        self.due -= 1
        self.told.set()

    async def request_permission(self, **_: Any) -> RequestPermissionResponse:
        return RequestPermissionResponse.model_validate({"outcome": {"outcome": "cancelled"}})

    async def until(self, is_so: Any) -> None:
        while not is_so():
            self.told.clear()
            await self.told.wait()

    async def perform(self, step: dict[str, Any]) -> Any:
        connection = self.connection
        match step:
            case {"step": "new", "cwd": cwd}:
                return await connection.new_session(cwd=cwd, mcp_servers=[])
            case {"step": "load", "sessionId": session, "cwd": cwd}:
                return await connection.load_session(cwd=cwd, session_id=session, mcp_servers=[])
            case {"step": "resume", "sessionId": session, "cwd": cwd}:
                return await connection.resume_session(cwd=cwd, session_id=session, mcp_servers=[])
            case {"step": "fork", "sessionId": session, "cwd": cwd}:
                return await connection.fork_session(cwd=cwd, session_id=session, mcp_servers=[])
            case {"step": "list"}:
                return await connection.list_sessions(cursor=step.get("cursor"))
            case {"step": "setMode", "sessionId": session, "modeId": mode}:
                return await connection.set_session_mode(session_id=session, mode_id=mode)
            case {"step": "close", "sessionId": session}:
                return await connection.close_session(session_id=session)
            case {"step": "delete", "sessionId": session}:
                # This SDK has no session/delete of its own.
                return await connection._conn.send_request("session/delete", {"sessionId": session})
            case {"step": "cancel", "sessionId": session}:
                return await connection.cancel(session_id=session)
            case {"step": "prompt", "sessionId": session, "text": text}:
                prompt = [TextContentBlock(type="text", text=text)]
                self.turn = asyncio.ensure_future(connection.prompt(session_id=session, prompt=prompt))
                return None
            case {"step": "finish"}:
                return await self.turn
            case {"step": "hear"}:
                return await self.until(lambda: self.updates)
        raise ValueError(f"no such step: {step}")

    async def report(self, outcome: Any) -> None:
        """Says what came of a step, and all that came before that."""
        try:
            report = {"result": as_sent(await outcome)}
        except RequestError as error:
            report = {"error": {"code": error.code, "data": error.data}}
        # This SDK hands updates out in tasks of their own.
        await self.until(lambda: self.due == 0)
        print(json.dumps({**report, "updates": self.updates}), flush=True)
        self.updates.clear()


async def run(command: list[str]) -> None:
    """Starts the agent, says hello, performs steps to the end of this run, and waits for the agent's end."""
    seat = Seat()
    agent_process = spawn_agent_process(
        seat, command[0], *command[1:], use_unstable_protocol=True, observers=[seat.overhear]
    )
    async with agent_process as (connection, agent):
        seat.connection = connection
        info = Implementation(name="python-story", version="1.0.0")
        await seat.report(connection.initialize(protocol_version=PROTOCOL_VERSION, client_info=info))
        while (step := await next_step())["step"] != "end":
            await seat.report(seat.perform(step))
        agent.stdin.close()

        async def ended() -> dict[str, int]:
            return {"code": await agent.wait()}

        await seat.report(ended())


async def main(command: list[str]) -> None:
    while (step := await next_step()) is not None:
        if step["step"] != "start":
            raise ValueError(f"no agent runs to {step['step']} with")
        await run(command)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
