"""The session layer between a client and an agent of the official SDK."""

import asyncio
import json
import threading
import unittest
from contextlib import suppress
from typing import Any, Callable
from unittest import mock

import acp
from acp.schema import AgentCapabilities
from acp_sessions import Arrival, Engine, EngineError, FileStore, MemoryStore, Peer, Storage, StorageError
from acp_sessions.aio.streams import Outbox
from acp_sessions.storage import Append, Durability, Expectation, RecordPage, Write
from folders import folder
from sdk import Echo, Scene

LONG = 60.0


class Faulty(MemoryStore):
    """A store at whose next scans something happens first, and that tells of what is written to logs."""

    def __init__(self) -> None:
        super().__init__()
        self.at_scans: list[Callable[[], None]] = []
        self._appended: Callable[[str], None] = lambda value: None

    def written(self, text: str) -> asyncio.Event:
        """Set when this is written to a log."""
        loop, event = asyncio.get_running_loop(), asyncio.Event()

        def appended(value: str) -> None:
            if text in value:
                loop.call_soon_threadsafe(event.set)

        self._appended = appended
        return event

    def scan(self, start: str, end: str, descending: bool, limit: int, max_bytes: int) -> RecordPage:
        if self.at_scans:
            self.at_scans.pop()()
        return super().scan(start, end, descending, limit, max_bytes)

    def commit(self, expected: list[Expectation], writes: list[Write], durability: Durability) -> None:
        super().commit(expected, writes, durability)
        for write in writes:
            if isinstance(write, Append):
                self._appended(write.value)


def lost() -> None:
    raise OSError("no order")


def said(store: Storage, session: str) -> str:
    """All that a store has of what was said in a session."""
    updates = [json.loads(update.update) for update in Engine(store).sessions.read_transcript(session).updates]
    return "".join(update["content"]["text"] for update in updates if "content" in update)


class SessionLayer(unittest.IsolatedAsyncioTestCase):
    async def refused(self, waited: Any) -> acp.RequestError:
        with self.assertRaises(acp.RequestError) as refused:
            await asyncio.wait_for(waited, LONG)
        return refused.exception

    async def test_the_life_of_a_session(self) -> None:
        with FileStore(folder(self) / "sessions.db") as store:
            scene = await Scene().open(lambda: Engine(store))
            session = await scene.new()
            self.assertEqual(await scene.prompt(session, "hello"), "end_turn")
            await scene.client.hear("You said hello, and no more.")
            self.assertEqual(await scene.listed(), [session])
            self.assertEqual(await scene.leave(), "client")

            # Another connection, and an agent that knows nothing of it.
            scene = await Scene().open(lambda: Engine(store))
            self.assertEqual(await scene.listed(), [session])
            await scene.connection.load_session(cwd="/home/x", session_id=session, mcp_servers=[])
            await scene.client.hear("You said hello, and no more.")
            self.assertEqual(scene.client.heard[0], "hello")
            self.assertEqual(await scene.prompt(session, "once more"), "end_turn")
            await scene.connection._conn.send_request("session/delete", {"sessionId": session})
            self.assertEqual(await scene.listed(), [])
            refused = await self.refused(
                scene.connection.load_session(cwd="/home/x", session_id=session, mcp_servers=[])
            )
            self.assertEqual(refused.code, -32002)
            self.assertEqual(await scene.leave(), "client")

    async def test_a_turn_goes_on_though_the_instance_is_lost_in_its_middle(self) -> None:
        store, warnings = Faulty(), list[str]()
        scene = await Scene().open(lambda: Engine(store, warn=warnings.append))
        is_written = store.written("You said hello")
        session, turn = await scene.half_a_turn()
        await asyncio.wait_for(is_written.wait(), LONG)
        receive = Engine.receive

        def received(engine: Engine, arrivals: list[Arrival], *room: int) -> Any:
            if any("session/list" in arrival.line for arrival in arrivals):
                store.at_scans = [lost]
            return receive(engine, arrivals, *room)

        with mock.patch.object(Engine, "receive", received):
            self.assertEqual((await self.refused(scene.connection.list_sessions())).code, -32603)
        self.assertEqual(len(warnings), 1)
        scene.go_on()
        self.assertEqual(await turn, "end_turn")
        await scene.client.hear("You said hello, and no more.")
        self.assertEqual(await scene.listed(), [session])
        await scene.leave()
        self.assertEqual(said(store, session), "helloYou said hello, and no more.")

    async def test_an_engine_that_is_lost_again_and_again_ends_the_connection_and_says_so(self) -> None:
        store = Faulty()
        scene = await Scene().open(lambda: Engine(store))
        await scene.new()
        with mock.patch.object(Engine, "receive", side_effect=EngineError("lost again")):
            listing = asyncio.create_task(scene.connection.list_sessions())
            with self.assertRaisesRegex(EngineError, "lost again"):
                await asyncio.wait_for(scene.layer, LONG)
        with suppress(ConnectionError):
            await asyncio.wait_for(listing, LONG)
        await scene.agent_task
        await scene.connection.close()

    async def test_the_loop_goes_on_while_the_store_is_at_work(self) -> None:
        store, loop = Faulty(), asyncio.get_running_loop()
        scene = await Scene().open(lambda: Engine(store))
        is_at_work, may_end, has_waited = asyncio.Event(), threading.Event(), list[bool]()

        def work() -> None:
            loop.call_soon_threadsafe(is_at_work.set)
            has_waited.append(may_end.wait(LONG))

        store.at_scans = [work]
        listing = asyncio.create_task(scene.listed())
        await is_at_work.wait()
        may_end.set()
        self.assertEqual((await listing, has_waited), ([], [True]))
        await scene.leave()

    async def test_what_is_said_is_written_in_time_though_nothing_more_comes(self) -> None:
        store = Faulty()
        is_written = store.written("You said hello")
        scene = await Scene().open(lambda: Engine(store))
        _, turn = await scene.half_a_turn()
        await asyncio.wait_for(is_written.wait(), LONG)
        scene.go_on()
        await turn
        await scene.leave()

    async def test_an_agent_that_says_nothing_is_given_up_in_time(self) -> None:
        class Loading(Echo):
            capabilities = AgentCapabilities(load_session=True)

        class Silent(Loading):
            async def load_session(self, **_: Any) -> Any:
                await asyncio.Event().wait()

        store = MemoryStore()
        scene = await Scene().open(lambda: Engine(store), agent=Loading())
        session = await scene.new()
        await scene.prompt(session, "hello")
        await scene.leave()
        scene = await Scene().open(lambda: Engine(store, {"agent-timeout-ms": 1000}), agent=Silent())
        loading = scene.connection.load_session(cwd="/home/x", session_id=session, mcp_servers=[])
        # It does not know that it may be told to give up.
        with self.assertLogs(level="ERROR"):
            self.assertIn("agent", str(await self.refused(loading)))
        self.assertEqual(await scene.leave(), "client")

    async def test_what_waits_for_an_agent_does_not_keep_the_end_of_its_input_from_it(self) -> None:
        class Silent(Echo):
            async def initialize(self, **_: Any) -> Any:
                await asyncio.Event().wait()

        loop, grace = asyncio.get_running_loop(), 20.0
        scene = await Scene().open(lambda: Engine(MemoryStore()), by_sdk=False, agent=Silent(), agent_grace=grace)
        begun = loop.time()
        for number, (method, params) in enumerate([("initialize", {"protocolVersion": 1}), ("session/list", {})]):
            request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            scene.client_end.writer.write(json.dumps(request).encode() + b"\n")
        self.assertEqual(await scene.leave(), "client")
        self.assertLess(loop.time() - begun, grace / 2)

    async def test_where_the_agent_ends_what_was_asked_is_answered_with_an_error(self) -> None:
        store = MemoryStore()
        scene = await Scene().open(lambda: Engine(store))
        session, turn = await scene.half_a_turn()
        await scene.agent.connection.close()
        scene.agent_end.writer.close()
        self.assertEqual((await self.refused(turn)).code, -32603)
        self.assertEqual(await scene.end(), "agent")
        self.assertEqual(said(store, session), "helloYou said hello")

    async def test_what_an_agent_says_after_the_client_has_gone_is_kept(self) -> None:
        store = MemoryStore()
        scene = await Scene().open(lambda: Engine(store))
        session, turn = await scene.half_a_turn()
        scene.client_end.writer.write_eof()
        # The end of its input reaches the agent when the client's was seen.
        await asyncio.wait_for(scene.agent_task, LONG)
        self.assertEqual(await asyncio.wait_for(scene.layer, LONG), "client")
        turn.cancel()
        self.assertEqual(said(store, session), "helloYou said hello")
        await scene.connection.close()

    async def test_where_it_is_cancelled_what_was_said_is_kept_and_both_sides_are_closed(self) -> None:
        store = MemoryStore()

        def patient() -> Engine:
            engine = Engine(store)
            engine.flush_ms = 1_000_000
            return engine

        scene = await Scene().open(patient)
        session, turn = await scene.half_a_turn()
        scene.layer.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await asyncio.wait_for(scene.layer, LONG)
        with suppress(acp.RequestError, ConnectionError):
            await asyncio.wait_for(turn, LONG)
        await asyncio.wait_for(scene.agent_task, LONG)
        self.assertEqual(said(store, session), "helloYou said hello")
        await scene.connection.close()

    async def test_where_it_is_cancelled_again_and_again_it_comes_to_its_end_all_the_same(self) -> None:
        store = MemoryStore()
        scene = await Scene().open(lambda: Engine(store))
        session, turn = await scene.half_a_turn()
        peer_closed, close, loop = Engine.peer_closed, Outbox.close, asyncio.get_running_loop()

        def closed(engine: Engine, peer: Peer) -> None:
            # In the thread: what is under way is waited for.
            asyncio.run_coroutine_threadsafe(cancelled(), loop).result()
            peer_closed(engine, peer)

        async def cancelled() -> None:
            scene.layer.cancel()
            # So that it has come to it.
            await asyncio.sleep(0)
            await asyncio.sleep(0)

        def outbox_closed(outbox: Outbox) -> None:
            close(outbox)
            scene.layer.cancel()

        with mock.patch.object(Engine, "peer_closed", closed), mock.patch.object(Outbox, "close", outbox_closed):
            scene.layer.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await asyncio.wait_for(asyncio.shield(scene.layer), LONG)
        left = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
        self.assertEqual([name for name in left if name.startswith(("_Layer.", "Outbox."))], [])
        self.assertEqual((await self.refused(turn)).code, -32603)
        await asyncio.wait_for(scene.agent_task, LONG)
        self.assertEqual(said(store, session), "helloYou said hello")
        await scene.connection.close()

    async def test_where_it_is_cancelled_again_as_the_engine_is_made_it_waits_for_that(self) -> None:
        loop, has_ended = asyncio.get_running_loop(), list[bool]()
        is_making, may_end = asyncio.Event(), threading.Event()

        def make() -> Engine:
            loop.call_soon_threadsafe(is_making.set)
            may_end.wait(LONG)
            has_ended.append(True)
            return Engine(MemoryStore())

        scene = await Scene().open(make, by_sdk=False)
        await is_making.wait()
        for _ in range(3):
            scene.layer.cancel()
            await asyncio.sleep(0)
        self.assertFalse(scene.layer.done())
        may_end.set()
        with self.assertRaises(asyncio.CancelledError):
            await asyncio.wait_for(asyncio.shield(scene.layer), LONG)
        # Nothing is at work any more.
        self.assertEqual(has_ended, [True])
        self.assertEqual(await scene.client_end.reader.read(), b"")
        await scene.agent_task
        scene.client_end.writer.close()

    async def test_an_engine_that_cannot_be_made_closes_both_sides(self) -> None:
        def make() -> Engine:
            raise StorageError("unavailable", "no store")

        scene = await Scene().open(make, by_sdk=False)
        with self.assertRaises(StorageError):
            await asyncio.wait_for(scene.layer, LONG)
        self.assertEqual(await scene.client_end.reader.read(), b"")
        await scene.agent_task
        scene.client_end.writer.close()
        await scene.client_end.writer.wait_closed()

if __name__ == "__main__":
    unittest.main()
