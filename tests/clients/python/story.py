"""story.py CWD ENDLESS-PROMPT AGENT ARGS…

The life of a session, told by the official Python SDK. Prints a report; a mismatch is an error.
"""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import datetime

from acp import RequestError

from seat import play

QUESTION = "What is the answer?\nI have been wondering for a while."
FOLLOW_UP = "And what was the question?"


async def main(cwd: str, endless: str, command: list[str]) -> None:
    async with play(command) as seat:
        assert seat.hello.protocol_version == 1
        abilities = seat.hello.agent_capabilities
        assert abilities.load_session is True
        for ability in ["list", "delete", "resume", "close", "fork"]:
            assert getattr(abilities.session_capabilities, ability) is not None, ability
        new = await seat.connection.new_session(cwd=cwd, mcp_servers=[])
        session, modes = new.session_id, new.modes
        turn = await seat.prompt(session, QUESTION)
        assert turn.stop_reason == "end_turn", turn
        answer = seat.text(session, "agent_message_chunk")
        assert answer
        row = next(row for row in await seat.list() if row.session_id == session)
        assert row.cwd == cwd, row
        assert row.title == "What is the answer?", row
        assert datetime.fromisoformat(row.updated_at), row
    other_mode = next(mode.id for mode in modes.available_modes if mode.id != modes.current_mode_id)

    async with play(command) as seat:
        loaded = await seat.connection.load_session(cwd=cwd, session_id=session, mcp_servers=[])
        await seat.until(lambda: seat.text(session, "agent_message_chunk") == answer)
        assert seat.text(session, "user_message_chunk") == QUESTION
        assert loaded.modes.current_mode_id == modes.current_mode_id, loaded

    async with play(command) as seat:
        await seat.connection.resume_session(cwd=cwd, session_id=session, mcp_servers=[])
        forked = await seat.connection.fork_session(cwd=cwd, session_id=session, mcp_servers=[])
        fork = forked.session_id
        assert fork != session
        await seat.connection.set_session_mode(session_id=fork, mode_id=other_mode)
        await seat.prompt(fork, FOLLOW_UP)
        assert seat.text(session, "agent_message_chunk") == "", "resume replays nothing"
        assert {fork, session} <= {row.session_id for row in await seat.list()}

        pending = asyncio.ensure_future(seat.prompt(session, endless))
        await seat.until(lambda: seat.text(session, "agent_message_chunk"))
        await seat.connection.cancel(session_id=session)
        stop_reason = (await pending).stop_reason

    async with play(command) as seat:
        loaded = await seat.connection.load_session(cwd=cwd, session_id=fork, mcp_servers=[])
        assert loaded.modes.current_mode_id == other_mode, loaded
        await seat.until(lambda: seat.text(fork, "user_message_chunk") == QUESTION + FOLLOW_UP)
        loaded = await seat.connection.load_session(cwd=cwd, session_id=session, mcp_servers=[])
        assert loaded.modes.current_mode_id == modes.current_mode_id, loaded
        await seat.until(lambda: seat.text(session, "user_message_chunk") == QUESTION + endless)

        await seat.connection.close_session(session_id=fork)
        for gone in [fork, session]:
            assert await seat.delete(gone) == {}
        assert not {fork, session} & {row.session_id for row in await seat.list()}
        try:
            await seat.connection.load_session(cwd=cwd, session_id=session, mcp_servers=[])
        except RequestError as error:
            assert error.code == -32002 and error.data["sessionId"] == session, error.to_error_obj()
        else:
            raise AssertionError("a deleted session was loaded")

    print(json.dumps({"sessionId": session, "forkId": fork, "answer": answer, "stopReason": stop_reason}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
