"""What is survived: an instance that is lost to an exception of its store."""

import json
import unittest
from typing import Any, Callable, Optional, cast
from unittest import mock

from acp_sessions import Arrival, Engine, EngineError, ListCriteria, MemoryStore, Output, Peer, Refused, StorageError
from acp_sessions.instance import Instance, Lost
from acp_sessions.refusals import refusals
from acp_sessions.storage import Durability, Expectation, RecordPage, Write

LIST = {"id": 3, "method": "session/list", "params": {}}


class Shaky(MemoryStore):
    """A store in memory that raises at the next calls of a function: an exception, or an error of the WIT."""

    def __init__(self) -> None:
        super().__init__()
        self._raised: list[tuple[str, Callable[[], BaseException]]] = []

    def raising(self, name: str, times: int, make: Callable[[], BaseException] = lambda: OSError("no order")) -> None:
        self._raised = [(name, make)] * times

    def _strike(self, name: str) -> None:
        if self._raised and self._raised[0][0] == name:
            raise self._raised.pop(0)[1]()

    def get(self, keys: list[str]) -> list[Optional[str]]:
        self._strike("get")
        return super().get(keys)

    def scan(self, start: str, end: str, descending: bool, limit: int, max_bytes: int) -> RecordPage:
        self._strike("scan")
        return super().scan(start, end, descending, limit, max_bytes)

    def commit(self, expected: list[Expectation], writes: list[Write], durability: Durability) -> None:
        self._strike("commit")
        super().commit(expected, writes, durability)


class Connection:
    """One in which a session `s1` waits for the answer to its prompt."""

    def __init__(self) -> None:
        self.store = Shaky()
        self.warnings: list[str] = []
        self.now = 1_760_000_000.0
        self.engine = Engine(self.store, now=lambda: self.now, warn=self.warnings.append)
        self.say("client", id=0, method="initialize", params={"protocolVersion": 1})
        info = {"name": "a", "version": "1"}
        self.say("agent", id=0, result={"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": info})
        self.say("client", id=1, method="session/new", params={"cwd": "/home/x", "mcpServers": []})
        self.say("agent", id=1, result={"sessionId": "s1"})
        prompt = [{"type": "text", "text": "Go"}]
        asked = self.say("client", id=2, method="session/prompt", params={"sessionId": "s1", "prompt": prompt})
        assert [said["method"] for said in asked if said["to"] == "agent"] == ["session/prompt"]

    def say(self, peer: Peer, **message: Any) -> list[dict[str, Any]]:
        step = self.engine.receive([Arrival(peer, json.dumps({"jsonrpc": "2.0", **message}))])
        return [{"to": output.peer, **json.loads(output.line)} for output in step.outputs]


class Recovery(unittest.TestCase):
    def ends_well(self, connection: Connection) -> None:
        """The turn that was under way ends well, and is in the history."""
        ended = connection.say("agent", id=2, result={"stopReason": "end_turn"})
        answer = next(said for said in ended if said.get("id") == 2)
        self.assertEqual(answer["result"]["stopReason"], "end_turn")
        updates = connection.engine.sessions.read_transcript("s1").updates
        self.assertEqual(json.loads(updates[0].update)["content"]["text"], "Go")

    def test_a_request_at_which_instances_are_lost_fails_and_a_turn_under_way_goes_on(self) -> None:
        said = ["please try again", "fails at this line", "failed at this request"]
        for times, message in enumerate(said, 1):
            with self.subTest(times):
                connection = Connection()
                connection.store.raising("get", times)
                [answer] = connection.say("client", **LIST)
                self.assertEqual((answer["to"], answer["id"], answer["error"]["code"]), ("client", 3, -32603))
                self.assertIn(message, answer["error"]["message"])
                self.assertEqual(sum("started anew" in text for text in connection.warnings), times)
                [again] = connection.say("client", **{**LIST, "id": 4})
                self.assertEqual(again["result"]["sessions"][0]["sessionId"], "s1")
                self.ends_well(connection)

    def test_an_error_of_the_store_is_an_answer_and_loses_nothing(self) -> None:
        connection = Connection()
        connection.store.raising("scan", 1, lambda: StorageError("unavailable", "busy"))
        [answer] = connection.say("client", **LIST)
        self.assertIn("busy", answer["error"]["message"])
        self.assertEqual(connection.warnings, [])
        self.ends_well(connection)

    def test_what_a_store_returns_of_a_wrong_type_loses_the_instance_alone(self) -> None:
        connection = Connection()
        store = connection.store

        def once(name: str, wrong: Any) -> Any:
            answers = [wrong] + 99 * [mock.DEFAULT]
            return mock.patch.object(store, name, wraps=getattr(store, name), side_effect=answers)

        with once("scan", 3):
            [answer] = connection.say("client", **LIST)
        self.assertEqual((answer["id"], answer["error"]["code"]), (3, -32603))
        with once("get", [3]):
            [answer] = connection.say("client", **{**LIST, "id": 4})
        self.assertEqual((answer["id"], answer["error"]["code"]), (4, -32603))
        self.assertEqual(len(connection.warnings), 2)
        self.ends_well(connection)

    def test_what_is_kept_of_a_turn_survives_an_instance_that_is_lost_as_time_passes(self) -> None:
        connection = Connection()
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Half an answer"}}
        connection.say("agent", method="session/update", params={"sessionId": "s1", "update": update})
        connection.store.raising("commit", 1)
        connection.now += 1
        connection.engine.idle()
        self.assertEqual(len(connection.warnings), 1)
        connection.engine.pull()
        self.ends_well(connection)

    def test_an_interrupt_reaches_the_program_and_the_connection_goes_on(self) -> None:
        connection = Connection()
        connection.store.raising("get", 1, KeyboardInterrupt)
        with self.assertRaises(KeyboardInterrupt):
            connection.say("client", **LIST)
        answers = [json.loads(output.line) for output in connection.engine.pull().outputs]
        self.assertEqual([(answer["id"], answer["error"]["code"]) for answer in answers], [(3, -32603)])
        self.ends_well(connection)

    def test_what_is_no_text_is_refused_and_loses_nothing(self) -> None:
        connection = Connection()
        with self.assertRaises(UnicodeEncodeError):
            connection.engine.receive([Arrival("client", "\ud800")])
        self.assertEqual(connection.warnings, [])
        self.ends_well(connection)

    def test_an_argument_that_is_wrong_is_refused_and_loses_nothing(self) -> None:
        connection = Connection()
        engine: Any = connection.engine
        wrong: list[tuple[type[Exception], Callable[[], Any]]] = [
            (ValueError, lambda: engine.receive([Arrival("client", "{}"), Arrival(cast(Any, "Client"), "{}")])),
            (ValueError, lambda: engine.receive([Arrival("client", "{}", cast(Any, "text"))])),
            (TypeError, lambda: engine.receive([Arrival("client", cast(Any, b"{}"))])),
            (TypeError, lambda: engine.receive([{"jsonrpc": "2.0"}])),
            (TypeError, lambda: engine.receive([], "much")),
            (ValueError, lambda: engine.peer_closed("foo")),
            (TypeError, lambda: engine.peer_closed(5)),
            (TypeError, lambda: engine.agent_restarted(5)),
            (ValueError, lambda: engine.sessions.list_sessions(ListCriteria(archived=cast(Any, "foo")))),
            (ValueError, lambda: engine.sessions.check_store("foo")),
            (TypeError, lambda: engine.sessions.get_session(5)),
            (ValueError, lambda: engine.receive([], -1)),
            (ValueError, lambda: engine.pull(1 << 32)),
            (ValueError, lambda: engine.sessions.list_sessions(limit=-1)),
            (ValueError, lambda: engine.sessions.list_sessions(limit=(1 << 32) + 1)),
            (ValueError, lambda: engine.sessions.list_usage(limit=1 << 64)),
        ]
        for nth, (error, call) in enumerate(wrong):
            with self.subTest(nth), self.assertRaises(error):
                call()
        self.assertEqual(connection.warnings, [])
        self.ends_well(connection)

    def test_an_engine_whose_instances_are_all_lost_is_at_an_end(self) -> None:
        connection = Connection()
        connection.store.raising("get", 1000)
        with self.assertRaises(EngineError):
            for nth in range(5):
                connection.say("client", **{**LIST, "id": nth})
                connection.store.raising("commit", 1000)
                connection.now += 10
                for _ in range(5):
                    connection.engine.idle()
        with self.assertRaises(EngineError):
            connection.engine.idle()

    def test_a_setting_that_there_is_not_is_refused(self) -> None:
        with self.assertRaises(Refused) as refused:
            Engine(MemoryStore(), {"nonsense": 1})
        self.assertEqual(refused.exception.tag, "bad-setting")

    def test_what_an_engine_cannot_be_made_with_is_refused(self) -> None:
        wrong: list[dict[str, Any]] = [
            *({name: value} for name in ("memory", "seconds", "output", "memos") for value in (0, -5)),
            {"memory": 4096},
            {"now": lambda: float("nan")},
            {"now": lambda: float("inf")},
        ]
        for options in wrong:
            with self.subTest(options), self.assertRaises(ValueError):
                Engine(MemoryStore(), **options)
        for name in ("memory", "seconds", "output", "memos"):
            with self.subTest(name), self.assertRaises(TypeError):
                Engine(MemoryStore(), **{name: cast(Any, "1")})

    def test_an_engine_that_is_lost_as_it_is_made_says_so(self) -> None:
        with mock.patch.object(Instance, "call", side_effect=Lost("trap")), self.assertRaises(EngineError):
            Engine(MemoryStore())

    def test_what_the_typed_interface_is_refused_is_told_and_an_instance_that_it_loses_is_replaced(self) -> None:
        connection = Connection()
        sessions = connection.engine.sessions
        with self.assertRaises(Refused) as refused:
            sessions.get_session("s9")
        self.assertEqual(refused.exception.tag, "not-found")
        connection.store.raising("get", 1)
        with self.assertRaises(EngineError):
            sessions.get_session("s1")
        self.assertEqual(sessions.get_session("s1").id, "s1")
        self.assertEqual([session.id for session in sessions.list_sessions().sessions], ["s1"])
        self.assertEqual(sessions.check_store().findings, [])

    def test_refusals_have_the_id_as_it_was_written_and_go_to_whoever_asked(self) -> None:
        lines = [
            Arrival("client", '{"jsonrpc":"2.0","params":{"id":1},"id":12345678901234567890,"method":"x/ask"}'),
            Arrival("agent", '{"method":"x/ask","id":"a \\" b"}'),
            Arrival("client", '{"i\\u0064" : 1e3 ,"method":"x"}'),
            Arrival("client", '{"jsonrpc":"2.0","method":"x/tell"}'),
            Arrival("agent", '{"jsonrpc":"2.0","id":1,"result":{}}'),
            Arrival("client", '{"id":'),
            Arrival("client", '{"id":1,"method":"x"}', "not-bearable"),
        ]

        def id_of(output: Output) -> str:
            return output.line.split('"id":', 1)[1].split(',"error"')[0]

        ids = [(output.peer, id_of(output)) for output in refusals(lines)]
        self.assertEqual(ids, [("client", "12345678901234567890"), ("agent", '"a \\" b"'), ("client", "1e3")])


if __name__ == "__main__":
    unittest.main()
