"""A client and an agent by the official SDK, with the session layer between them."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Optional

import acp
from acp.schema import AgentCapabilities, Implementation, NewSessionResponse, PromptResponse, RequestPermissionResponse
from acp_sessions import Engine, Peer
from acp_sessions.aio import Streams, session_layer, stream_pair
from pydantic import BaseModel


class Echo:
    """An agent that keeps nothing: it says again what it is told. `hold` is what it waits for in the middle of a turn."""

    capabilities = AgentCapabilities()

    def __init__(self) -> None:
        self.connection: Any = None
        self.sessions = 0
        self.hold: Optional[asyncio.Event] = None

    def on_connect(self, connection: Any) -> None:
        self.connection = connection

    async def initialize(self, **_: Any) -> Any:
        info = Implementation(name="echo", version="1")
        return acp.InitializeResponse(protocol_version=1, agent_capabilities=self.capabilities, agent_info=info)

    async def new_session(self, **_: Any) -> Any:
        self.sessions += 1
        return NewSessionResponse(session_id=f"echo-{self.sessions}")

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> Any:
        await self.say(session_id, f"You said {prompt[-1].text}")
        if self.hold is not None:
            await self.hold.wait()
        await self.say(session_id, ", and no more.")
        return PromptResponse(stop_reason="end_turn")

    async def say(self, session_id: str, text: str) -> None:
        await self.connection.session_update(session_id, acp.update_agent_message_text(text))


class Client:
    """One that keeps what it is told."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._told = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        content = getattr(update, "content", None)
        if isinstance(content, BaseModel) and hasattr(content, "text"):
            self.heard.append(content.text)
            self._told.set()

    async def request_permission(self, **_: Any) -> RequestPermissionResponse:
        return RequestPermissionResponse.model_validate({"outcome": {"outcome": "cancelled"}})

    async def hear(self, text: str) -> None:
        """Waits until that was said: the SDK hands updates out in tasks of their own."""
        while text not in "".join(self.heard):
            self._told.clear()
            await asyncio.wait_for(self._told.wait(), 60)


class Scene:
    """The three at work. `connection` is the client's of the SDK; without it a test speaks for the client by `client_end`."""

    def __init__(self) -> None:
        self.agent = Echo()
        self.client = Client()
        self.connection: Any = None

    async def open(
        self, make: Callable[[], Engine], *, by_sdk: bool = True, agent: Optional[Echo] = None, **options: Any
    ) -> Scene:
        self.agent = agent or self.agent
        self.client_end, client = await stream_pair()
        agent_side, self.agent_end = await stream_pair()
        self.agent_task = asyncio.create_task(self._serve(self.agent_end))
        self.layer: asyncio.Task[Peer] = asyncio.create_task(session_layer(make, client, agent_side, **options))
        if by_sdk:
            seat: Any = self.client
            self.connection = acp.connect_to_agent(seat, self.client_end.writer, self.client_end.reader)
            await self.connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
        return self

    async def _serve(self, end: Streams) -> None:
        agent: Any = self.agent
        try:
            await acp.run_agent(agent, end.writer, end.reader, use_unstable_protocol=True)
        finally:
            # As the end of its process would.
            end.writer.close()

    async def new(self) -> str:
        made: str = (await self.connection.new_session(cwd="/home/x", mcp_servers=[])).session_id
        return made

    async def prompt(self, session: str, text: str) -> str:
        answer = await self.connection.prompt(session_id=session, prompt=[acp.text_block(text)])
        reason: str = answer.stop_reason
        return reason

    async def half_a_turn(self) -> tuple[str, asyncio.Task[str]]:
        """A session and a turn in it, in whose middle the agent waits until it is to go on; the client has heard half of it."""
        self.agent.hold = asyncio.Event()
        session = await self.new()
        turn = asyncio.create_task(self.prompt(session, "hello"))
        await self.client.hear("You said hello")
        return session, turn

    def go_on(self) -> None:
        """The agent goes on with the turn."""
        assert self.agent.hold is not None
        self.agent.hold.set()

    async def listed(self) -> list[str]:
        return [session.session_id for session in (await self.connection.list_sessions()).sessions]

    async def leave(self) -> Peer:
        """The client ends, and then all of it."""
        self.client_end.writer.write_eof()
        return await self.end()

    async def end(self) -> Peer:
        first = await asyncio.wait_for(self.layer, 60)
        await asyncio.wait_for(self.agent_task, 60)
        if self.connection is not None:
            await self.connection.close()
        for end in (self.client_end, self.agent_end):
            end.writer.close()
        return first
