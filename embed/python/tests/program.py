"""The built program, which works on the same files."""

from __future__ import annotations

import json
import os
import subprocess
import unittest
from pathlib import Path
from types import TracebackType
from typing import Any, Optional

BUILT = Path(__file__).parents[3] / "target" / "release" / "acp-sessions"
PROGRAM = Path(os.environ.get("ACP_SESSIONS_PROGRAM", BUILT))


def run(command: str, store: Path, *arguments: str) -> str:
    """What a command says; an error unless it succeeds."""
    line = [str(PROGRAM), command, "--store", str(store), *arguments]
    return subprocess.run(line, capture_output=True, check=True, text=True).stdout


def told(command: str, store: Path, *arguments: str) -> list[Any]:
    return [json.loads(line) for line in run(command, store, "--json", *arguments).splitlines()]


def find_nothing_wrong(test: unittest.TestCase, store: Path) -> None:
    [health] = told("doctor", store)
    test.assertEqual((health["good"], health["faults"], health["findings"]), (True, [], []))


class Agent:
    """`acp-sessions agent` at work, as a client sees it."""

    def __init__(self, store: Path) -> None:
        line = [str(PROGRAM), "agent", "--store", str(store), "--list", "all"]
        self._process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._asked = 0
        self.ask("initialize", protocolVersion=1)

    def __enter__(self) -> Agent:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def ask(self, method: str, **params: Any) -> Any:
        """The result. Notifications before it are passed over."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._asked += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params})
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._asked:
                return answer["result"]
        raise AssertionError(f"no answer to {method}")

    def new(self) -> str:
        made: str = self.ask("session/new", cwd="/home/x", mcpServers=[])["sessionId"]
        return made

    def prompt(self, session: str, text: str) -> None:
        self.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])
