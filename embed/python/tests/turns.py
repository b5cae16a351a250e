"""
Turns with an agent that echoes, through an engine over a store in a file. `turns.py STORE NAME COUNT` is a process that has some: it says
`ready`, waits for a line, and then says of each turn that was answered which session it was in and what was said, and of each session that
it has deleted its id alone.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Optional

from acp_sessions import Arrival, Engine, FileStore, Peer, Storage

# Turns in a session before the next one is begun.
TURNS = 3


class Turns:
    def __init__(self, store: Storage, name: str) -> None:
        self._name = name
        self._sessions = 0
        self.engine = Engine(store, {"list": "all"})
        info = {"name": "echo", "version": "1"}
        asked = self._say("client", id="i", method="initialize", params={"protocolVersion": 1})
        self._answer(asked, {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": info})

    def new(self) -> str:
        self._sessions += 1
        session = f"{self._name}-{self._sessions}"
        asked = self._say("client", id="n", method="session/new", params={"cwd": "/home/x", "mcpServers": []})
        answered = self._answer(asked, {"sessionId": session})
        assert any(said.get("result", {}).get("sessionId") == session for said in answered), answered
        return session

    def prompt(self, session: str, text: str) -> None:
        prompt = [{"type": "text", "text": text}]
        asked = self._say("client", id="p", method="session/prompt", params={"sessionId": session, "prompt": prompt})
        content = {"type": "text", "text": f"You said {text}."}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        self._say("agent", method="session/update", params={"sessionId": session, "update": update})
        self.engine.idle()
        answered = self._answer(asked, {"stopReason": "end_turn"})
        assert any(said.get("id") == "p" and "result" in said for said in answered), answered

    def permit(self, session: str, answer: dict[str, Any]) -> None:
        """A turn in which the agent asks for permission, and is answered so: with a `result` or an `error`."""
        prompt = [{"type": "text", "text": "May it?"}]
        asked = self._say("client", id="p", method="session/prompt", params={"sessionId": session, "prompt": prompt})
        option = {"optionId": "y", "name": "Yes", "kind": "allow_once"}
        question = {"sessionId": session, "toolCall": {"toolCallId": "c"}, "options": [option]}
        self._say("agent", id="q", method="session/request_permission", params=question)
        self._say("client", id="q", **answer)
        self._answer(asked, {"stopReason": "end_turn"})

    def delete(self, session: str) -> None:
        answered = self._say("client", id="d", method="session/delete", params={"sessionId": session})
        assert any(said.get("id") == "d" and "result" in said for said in answered), answered
        while self.engine.sessions.finish_deletes():
            pass

    def _answer(self, asked: list[dict[str, Any]], result: dict[str, Any]) -> list[dict[str, Any]]:
        [id] = [said["id"] for said in asked if said["to"] == "agent" and "method" in said]
        return self._say("agent", id=id, result=result)

    def _say(self, peer: Peer, **message: Any) -> list[dict[str, Any]]:
        step = self.engine.receive([Arrival(peer, json.dumps({"jsonrpc": "2.0", **message}))])
        outputs = list(step.outputs)
        while step.more:
            step = self.engine.pull()
            outputs += step.outputs
        return [{"to": output.peer, **json.loads(output.line)} for output in outputs]


def said(session: str, text: Optional[str] = None) -> None:
    print(json.dumps([session] if text is None else [session, text]), flush=True)


def main(path: Path, name: str, count: int) -> None:
    with FileStore(path) as store:
        turns = Turns(store, name)
        print("ready", flush=True)
        sys.stdin.readline()
        for nth in range(count):
            session = turns.new()
            for turn in range(TURNS):
                text = f"{name} {nth} {turn}"
                turns.prompt(session, text)
                said(session, text)
            if nth % 3 == 2:
                turns.delete(session)
                said(session)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
