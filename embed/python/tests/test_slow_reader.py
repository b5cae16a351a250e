"""A client that does not read what it is told holds the agent, and a replay, and never the end."""

import asyncio
import json
import logging
import unittest
from typing import Any
from unittest import mock

import acp
from acp_sessions import Engine, MemoryStore, Peer
from acp_sessions.aio import layer as layers
from acp_sessions.aio.streams import Outbox
from sdk import Echo, Scene

LONG = 60.0


class Flood(Echo):
    """Says so much in a turn."""

    def __init__(self, updates: int) -> None:
        super().__init__()
        self.updates = updates
        self.is_done = asyncio.Event()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> Any:
        for nth in range(self.updates):
            await self.say(session_id, f"{nth} " + "x" * 10_000)
        self.is_done.set()
        return acp.PromptResponse(stop_reason="end_turn")


class RawClient:
    """One that reads when it is told to."""

    def __init__(self, scene: Scene) -> None:
        self._streams = scene.client_end
        self._asked = 0

    def ask(self, method: str, **params: Any) -> int:
        self._asked += 1
        message = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        self._streams.writer.write(json.dumps(message).encode() + b"\n")
        return self._asked

    async def answer(self, id: int) -> tuple[Any, int]:
        """The result, and how many updates of an agent's message came before it."""
        before = 0
        while True:
            message = json.loads(await asyncio.wait_for(self._streams.reader.readline(), LONG))
            if message.get("id") == id and "method" not in message:
                return message["result"], before
            before += message.get("params", {}).get("update", {}).get("sessionUpdate") == "agent_message_chunk"

    async def open(self) -> None:
        await self.answer(self.ask("initialize", protocolVersion=1))


class Observed:
    """What waits for the client, and when somebody is made to wait for it."""

    def __init__(self, test: unittest.TestCase) -> None:
        self.is_held = asyncio.Event()
        self.most = 0
        is_wanted, is_more, add = layers._Layer._is_wanted, layers._Layer._is_more_to_pull, Outbox.add

        def held(layer: layers._Layer, peer: Peer) -> bool:
            if not (wanted := is_wanted(layer, peer)) and peer == "agent":
                self.is_held.set()
            return wanted

        def no_room(layer: layers._Layer) -> bool:
            if not (more := is_more(layer)) and layer._has_more:
                self.is_held.set()
            return more

        def added(outbox: Outbox, line: str) -> None:
            add(outbox, line)
            self.most = max(self.most, outbox.queued)

        for owner, name, seen in (
            (layers._Layer, "_is_wanted", held),
            (layers._Layer, "_is_more_to_pull", no_room),
            (Outbox, "add", added),
        ):
            patched = mock.patch.object(owner, name, seen)
            patched.start()
            test.addCleanup(patched.stop)


class SlowReader(unittest.IsolatedAsyncioTestCase):
    async def test_an_agent_waits_for_a_client_that_does_not_read(self) -> None:
        observed, agent = Observed(self), Flood(1200)
        scene = await Scene().open(lambda: Engine(MemoryStore()), by_sdk=False, agent=agent)
        client = RawClient(scene)
        await client.open()
        made, _ = await client.answer(client.ask("session/new", cwd="/home/x", mcpServers=[]))
        prompt = [{"type": "text", "text": "go"}]
        asked = client.ask("session/prompt", sessionId=made["sessionId"], prompt=prompt)
        first = [asyncio.create_task(event.wait()) for event in (observed.is_held, agent.is_done)]
        await asyncio.wait(first, timeout=LONG, return_when=asyncio.FIRST_COMPLETED)
        self.assertEqual([event.done() for event in first], [True, False])
        answer, updates = await client.answer(asked)
        self.assertEqual((answer["stopReason"], updates), ("end_turn", agent.updates))
        self.assertLess(observed.most, layers.HIGH_WATER + layers.MIB)
        await asyncio.gather(*first)
        await scene.leave()

    async def test_a_client_that_never_reads_keeps_nothing_from_its_end(self) -> None:
        observed = Observed(self)
        scene = await Scene().open(lambda: Engine(MemoryStore()), by_sdk=False, agent=Flood(1200))
        client = RawClient(scene)
        await client.open()
        made, _ = await client.answer(client.ask("session/new", cwd="/home/x", mcpServers=[]))
        prompt = [{"type": "text", "text": "go"}]
        client.ask("session/prompt", sessionId=made["sessionId"], prompt=prompt)
        await asyncio.wait_for(observed.is_held.wait(), LONG)
        # What it said last has nowhere to go, which the SDK logs, and may raise.
        logging.disable()
        self.addCleanup(logging.disable, logging.NOTSET)
        scene.layer.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await asyncio.wait_for(scene.layer, LONG)
        await asyncio.wait([scene.agent_task], timeout=LONG)
        self.assertTrue(scene.agent_task.done())
        self.assertIsInstance(scene.agent_task.exception(), (OSError, type(None)))
        scene.client_end.writer.close()

    async def test_a_replay_waits_for_a_client_that_does_not_read(self) -> None:
        store = MemoryStore()
        scene = await Scene().open(lambda: Engine(store), agent=Flood(400))
        session = await scene.new()
        await scene.prompt(session, "go")
        await scene.leave()
        observed = Observed(self)
        scene = await Scene().open(lambda: Engine(store), by_sdk=False)
        client = RawClient(scene)
        await client.open()
        asked = client.ask("session/load", sessionId=session, cwd="/home/x", mcpServers=[])
        await asyncio.wait_for(observed.is_held.wait(), LONG)
        _, updates = await client.answer(asked)
        # Text of one message comes joined.
        self.assertGreater(updates, 200)
        self.assertLess(observed.most, 2 * layers.CLIENT_ROOM)
        await scene.leave()


if __name__ == "__main__":
    unittest.main()
