// node story.mjs CWD ENDLESS-PROMPT AGENT ARGS…
//
// The life of a session, told by the official TypeScript SDK. Prints a report; a mismatch is an error.

import assert from "node:assert/strict";
import { methods, play } from "./seat.mjs";

const [cwd, endless, ...command] = process.argv.slice(2);
const session = methods.agent.session;
const question = "What is the answer?\nI have been wondering for a while.";
const followUp = "And what was the question?";
const place = { cwd, mcpServers: [] };

const first = await play(command, async (seat) => {
  assert.equal(seat.hello.protocolVersion, 1);
  assert.equal(seat.hello.agentCapabilities.loadSession, true);
  for (const ability of ["list", "delete", "resume", "close", "fork"]) {
    assert.deepEqual(seat.hello.agentCapabilities.sessionCapabilities[ability], {}, ability);
  }
  const { sessionId, modes } = await seat.request(session.new, place);
  const turn = await seat.startPrompt(sessionId, question);
  assert.equal(turn.stopReason, "end_turn");
  const answer = seat.text(sessionId, "agent_message_chunk");
  assert.notEqual(answer, "");
  const row = (await seat.list()).find((row) => row.sessionId === sessionId);
  assert.equal(row.cwd, cwd);
  assert.equal(row.title, "What is the answer?");
  assert.ok(Date.parse(row.updatedAt) > 0);
  return { sessionId, answer, modes };
});
const { sessionId, answer, modes } = first;
const otherMode = modes.availableModes.map((mode) => mode.id).find((id) => id !== modes.currentModeId);

await play(command, async (seat) => {
  const loaded = await seat.request(session.load, { sessionId, ...place });
  assert.equal(seat.text(sessionId, "user_message_chunk"), question);
  assert.equal(seat.text(sessionId, "agent_message_chunk"), answer);
  assert.equal(loaded.modes.currentModeId, modes.currentModeId);
});

const { forkId, stopReason } = await play(command, async (seat) => {
  await seat.request(session.resume, { sessionId, ...place });
  assert.equal(seat.text(sessionId, "agent_message_chunk"), "", "resume replays nothing");

  const { sessionId: forkId } = await seat.request(session.fork, { sessionId, ...place });
  assert.notEqual(forkId, sessionId);
  await seat.request(session.setMode, { sessionId: forkId, modeId: otherMode });
  await seat.startPrompt(forkId, followUp);
  const ids = (await seat.list()).map((row) => row.sessionId);
  assert.ok(ids.includes(forkId) && ids.includes(sessionId));

  const pending = seat.startPrompt(sessionId, endless);
  await seat.spoken(sessionId);
  await seat.cancel(sessionId);
  const { stopReason } = await pending;
  return { forkId, stopReason };
});

await play(command, async (seat) => {
  const fork = await seat.request(session.load, { sessionId: forkId, ...place });
  assert.equal(fork.modes.currentModeId, otherMode);
  assert.equal(seat.text(forkId, "user_message_chunk"), question + followUp);
  const original = await seat.request(session.load, { sessionId, ...place });
  assert.equal(original.modes.currentModeId, modes.currentModeId);
  assert.equal(seat.text(sessionId, "user_message_chunk"), question + endless);

  await seat.request(session.close, { sessionId: forkId });
  for (const id of [forkId, sessionId]) {
    assert.deepEqual(await seat.request(session.delete, { sessionId: id }), {});
  }
  const ids = (await seat.list()).map((row) => row.sessionId);
  assert.ok(!ids.includes(forkId) && !ids.includes(sessionId));
  await assert.rejects(
    seat.request(session.load, { sessionId, ...place }),
    (error) => error.code === -32002 && error.data.sessionId === sessionId,
  );
});

console.log(JSON.stringify({ sessionId, forkId, answer, stopReason }));
