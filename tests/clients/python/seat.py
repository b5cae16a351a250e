"""One run of the agent command with the official Python SDK in the client's seat."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import Any

from acp import PROTOCOL_VERSION, spawn_agent_process
from acp.schema import Implementation, RequestPermissionResponse, TextContentBlock

PATIENCE = 60


class Seat:
    """A client that remembers what it was told."""

    def __init__(self) -> None:
        self.updates: list[tuple[str, Any]] = []
        self.told = asyncio.Event()
        self.connection: Any = None
        self.hello: Any = None

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append((session_id, update))
        self.told.set()

    async def request_permission(self, **_: Any) -> RequestPermissionResponse:
        return RequestPermissionResponse.model_validate({"outcome": {"outcome": "cancelled"}})

    def prompt(self, session_id: str, text: str) -> Any:
        return self.connection.prompt(session_id=session_id, prompt=[TextContentBlock(type="text", text=text)])

    def text(self, session_id: str, kind: str) -> str:
        """The joined text of one kind of chunk in the updates of a session."""
        mine = (update for owner, update in self.updates if owner == session_id)
        return "".join(update.content.text for update in mine if update.session_update == kind)

    async def until(self, is_so: Any) -> None:
        """Waits until the updates are as expected: this SDK hands them out in tasks of their own."""
        async with asyncio.timeout(PATIENCE):
            while not is_so():
                self.told.clear()
                await self.told.wait()

    async def list(self) -> list[Any]:
        rows: list[Any] = []
        cursor = None
        while True:
            page = await self.connection.list_sessions(cursor=cursor)
            rows.extend(page.sessions)
            cursor = page.next_cursor
            if cursor is None:
                return rows

    async def delete(self, session_id: str) -> Any:
        """This SDK has no session/delete of its own."""
        return await self.connection._conn.send_request("session/delete", {"sessionId": session_id})


@asynccontextmanager
async def play(command: list[str]):
    """Starts the agent, says hello, and in the end waits for the agent's own end."""
    seat = Seat()
    async with spawn_agent_process(seat, command[0], *command[1:], use_unstable_protocol=True) as (connection, agent):
        seat.connection = connection
        seat.hello = await connection.initialize(
            protocol_version=PROTOCOL_VERSION, client_info=Implementation(name="python-story", version="1.0.0")
        )
        yield seat
        agent.stdin.close()
        code = await asyncio.wait_for(agent.wait(), PATIENCE)
        assert code == 0, f"the agent ended with {code}"
