"""The examples of the README run as they stand."""

import asyncio
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import acp
from folders import folder
from sdk import Client

# What the second example takes for granted.
BESIDE = """
import asyncio, os, sys
sys.path.insert(0, {tests!r})
import acp
from acp_sessions import Engine, FileStore
from acp_sessions.aio import Streams, session_layer, stream_pair
from sdk import Echo as MyAgent
os.chdir({folder!r})
{example}
asyncio.run(main())
"""


class Readme(unittest.TestCase):
    def test_the_first_example_runs_as_it_stands(self) -> None:
        readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
        found = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
        assert found is not None
        run = subprocess.run([sys.executable, "-c", found[1]], capture_output=True, check=True, text=True)
        answer = json.loads(run.stdout.splitlines()[-1].removeprefix("client "))
        self.assertEqual((answer["id"], answer["result"]["sessions"]), (1, []))

    def test_an_agent_in_its_own_process_has_sessions_by_the_second_example(self) -> None:
        tests = Path(__file__).parent
        example = re.findall(r"```python\n(.*?)```", (tests.parent / "README.md").read_text("utf-8"), re.DOTALL)[1]
        agent = folder(self) / "agent.py"
        agent.write_text(BESIDE.format(tests=str(tests), folder=str(agent.parent), example=example), "utf-8")

        async def live(session: str = "") -> tuple[str, list[str], int]:
            """Has a turn in a new session, or loads one; gives what was heard, and how the agent ended."""
            client: Any = Client()
            command = acp.spawn_agent_process(client, sys.executable, str(agent))
            async with command as (connection, process):
                await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
                if session:
                    await connection.load_session(cwd="/home/x", session_id=session, mcp_servers=[])
                else:
                    session = (await connection.new_session(cwd="/home/x", mcp_servers=[])).session_id
                    await connection.prompt(session_id=session, prompt=[acp.text_block("hello")])
                await client.hear("and no more.")
                assert process.stdin is not None
                process.stdin.close()
                return session, client.heard, await asyncio.wait_for(process.wait(), 60)

        session, heard, code = asyncio.run(live())
        self.assertEqual(("".join(heard), code), ("You said hello, and no more.", 0))
        _, heard, code = asyncio.run(live(session))
        self.assertEqual(("".join(heard), code), ("helloYou said hello, and no more.", 0))


if __name__ == "__main__":
    unittest.main()
