// Turns with an agent that echoes, through an engine over a store. `node turns.js STORE NAME COUNT` is a process that has some: it says
// `ready`, waits for a line, and then says of each turn that was answered which session it was in and what was said, and of each session
// that it has deleted its id alone.

import assert from "node:assert/strict";
import { writeSync } from "node:fs";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { createEngine } from "acp-sessions";
import { FileStore } from "acp-sessions/node-sqlite";

/** Turns in a session before the next one is begun. */
export const TURNS = 3;

export class Turns {
  #name;
  #sessions = 0;
  engine;

  static async begin(store, name) {
    const turns = new Turns();
    turns.#name = name;
    turns.engine = await createEngine({ store, settings: { list: "all" } });
    const asked = turns.#say("client", { id: "i", method: "initialize", params: { protocolVersion: 1 } });
    turns.#answer(asked, { protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: "echo", version: "1" } });
    return turns;
  }

  new() {
    const sessionId = `${this.#name}-${++this.#sessions}`;
    const asked = this.#say("client", { id: "n", method: "session/new", params: { cwd: "/home/x", mcpServers: [] } });
    const answered = this.#answer(asked, { sessionId });
    assert.ok(answered.some(({ result }) => result?.sessionId === sessionId), JSON.stringify(answered));
    return sessionId;
  }

  prompt(sessionId, text) {
    const prompt = [{ type: "text", text }];
    const asked = this.#say("client", { id: "p", method: "session/prompt", params: { sessionId, prompt } });
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: `You said ${text}.` } };
    this.#say("agent", { method: "session/update", params: { sessionId, update } });
    this.engine.idle();
    const answered = this.#answer(asked, { stopReason: "end_turn" });
    assert.ok(answered.some(({ id, result }) => id === "p" && result), JSON.stringify(answered));
  }

  delete(sessionId) {
    const answered = this.#say("client", { id: "d", method: "session/delete", params: { sessionId } });
    assert.ok(answered.some(({ id, result }) => id === "d" && result), JSON.stringify(answered));
    while (this.engine.sessions.finishDeletes());
  }

  #answer(asked, result) {
    const [{ id }] = asked.filter(({ to, method }) => to === "agent" && method);
    return this.#say("agent", { id, result });
  }

  #say(peer, message) {
    const val = JSON.stringify({ jsonrpc: "2.0", ...message });
    let step = this.engine.receive([{ peer, content: { tag: "line", val } }]);
    const outputs = [...step.outputs];
    while (step.more) outputs.push(...(step = this.engine.pull()).outputs);
    return outputs.map(({ tag, val }) => ({ to: tag.slice("to-".length), ...JSON.parse(val) }));
  }
}

/** What was asked in a session, in its order. */
export function promptsIn(sessions, session) {
  const { updates } = sessions.readTranscript(session, undefined, 1000);
  return prompts(updates.map(({ update }) => JSON.parse(update)));
}

export function prompts(updates) {
  return updates.filter(({ sessionUpdate }) => sessionUpdate === "user_message_chunk").map(({ content }) => content.text);
}

/** At once, so that what was said is out before the process is killed. */
const say = (value) => writeSync(1, `${JSON.stringify(value)}\n`);

async function main(path, name, count) {
  const store = new FileStore(path);
  const turns = await Turns.begin(store, name);
  say("ready");
  await once(process.stdin, "data");
  process.stdin.destroy();
  for (let nth = 0; nth < count; nth++) {
    const session = turns.new();
    for (let turn = 0; turn < TURNS; turn++) {
      const text = `${name} ${nth} ${turn}`;
      turns.prompt(session, text);
      say([session, text]);
    }
    if (nth % 3 !== 2) continue;
    turns.delete(session);
    say([session]);
  }
  store.close();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv[2], process.argv[3], Number(process.argv[4]));
