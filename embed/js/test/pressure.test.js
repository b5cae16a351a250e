// What does not read holds the other side's pipe, and every byte comes in its order.

import assert from "node:assert/strict";
import { test } from "node:test";

import { MemoryStore, createEngine, sessionLayer } from "../src/index.js";
import { ENGINES } from "./layer.js";

const MIB = 1 << 20;
const encode = (text) => new TextEncoder().encode(`${text}\n`);
const message = (members) => JSON.stringify({ jsonrpc: "2.0", ...members });

/** A side that says what it is told to, at once, as fast as it is read. */
function speaker() {
  let controller;
  const said = { bytes: 0 };
  const waiting = [];
  const readable = new ReadableStream(
    {
      start: (given) => (controller = given),
      pull: () => {
        const lines = waiting[0];
        if (!lines) return undefined;
        const { value, done } = lines.next();
        if (done) waiting.shift();
        else {
          said.bytes += value.length;
          controller.enqueue(value);
        }
        return undefined;
      },
    },
    { highWaterMark: 0 },
  );
  return {
    readable,
    said,
    /** Lines that are made as they are read, then no more for now. */
    stream: (lines) => new Promise((resolve) => {
      const all = (function* () {
        yield* lines;
        resolve();
        // What is read next waits for what is said next.
        yield new Uint8Array(0);
      })();
      waiting.push(all);
      const { value } = all.next();
      said.bytes += value.length;
      controller.enqueue(value);
    }),
    say: (text) => controller.enqueue(encode(text)),
    end: () => controller.close(),
  };
}

/** A side that takes a piece in each turn of the event loop, and tells of every line. */
function reader(tell, takes = () => new Promise(setImmediate)) {
  const heard = { bytes: 0 };
  let rest = "";
  const writable = new WritableStream({
    write: async (chunk) => {
      await takes();
      heard.bytes += chunk.length;
      const lines = (rest + new TextDecoder().decode(chunk)).split("\n");
      rest = lines.pop();
      for (const line of lines) tell(line);
    },
  });
  return { writable, heard };
}

/** A connection of bytes with a session `s0` that is at its prompt. */
async function prompted(engine, { heardByClient, heardByAgent }) {
  const [client, agent] = [speaker(), speaker()];
  const answers = new Map();
  const seen = { prompt: () => {} };
  const prompt = new Promise((resolve) => (seen.prompt = resolve));
  const toClient = reader((line) => {
    const { id, method } = JSON.parse(line);
    if (method === undefined) answers.get(id)?.();
    heardByClient?.(line);
  });
  const toAgent = reader((line) => {
    const { id, method } = JSON.parse(line);
    if (method === "initialize") agent.say(message({ id, result: { protocolVersion: 1, agentCapabilities: {} } }));
    if (method === "session/new") agent.say(message({ id, result: { sessionId: "s0" } }));
    if (method === "session/prompt") seen.prompt(id);
    heardByAgent?.(line);
  });
  const bytes = true;
  const layer = sessionLayer(engine, {
    client: { readable: client.readable, writable: toClient.writable, bytes },
    agent: { readable: agent.readable, writable: toAgent.writable, bytes },
  });
  const ask = (id, method, params) => {
    const answered = new Promise((resolve) => answers.set(id, resolve));
    client.say(message({ id, method, params }));
    return answered;
  };
  await ask(0, "initialize", { protocolVersion: 1 });
  await ask(1, "session/new", { cwd: "/home/x", mcpServers: [] });
  ask(2, "session/prompt", { sessionId: "s0", prompt: [{ type: "text", text: "Go" }] });
  return { layer, client, agent, toClient, toAgent, id: await prompt };
}

for (const [kind, make] of Object.entries(ENGINES)) {
  test(`a client that reads slowly holds the agent's pipe (${kind})`, async () => {
    const { engine, end } = await make({ store: new MemoryStore() });
    const [heard, most] = [[], { ahead: 0 }];
    const heardByClient = (line) => {
      const { params } = JSON.parse(line);
      if (params?.update?.content) heard.push(Number.parseInt(params.update.content.text));
    };
    const { layer, client, agent, toClient } = await prompted(engine, { heardByClient });
    const before = toClient.heard.bytes;
    agent.said.bytes = 0;
    const count = 256;
    await agent.stream(
      (function* () {
        for (let nth = 0; nth < count; nth++) {
          most.ahead = Math.max(most.ahead, agent.said.bytes - (toClient.heard.bytes - before));
          const text = `${nth} ${"x".repeat(MIB / 16)}`;
          const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
          yield encode(message({ method: "session/update", params: { sessionId: "s0", update } }));
        }
      })(),
    );
    client.end();
    agent.end();
    await layer.closed;
    await end();
    assert.ok(agent.said.bytes > 16 * MIB);
    // Four may wait for the client, beside what is on its way.
    assert.ok(most.ahead > MIB && most.ahead < 6 * MIB, `${most.ahead} bytes were read of the agent and by nobody`);
    assert.deepEqual(heard, heard.map((_, nth) => nth));
  });

  test(`an agent that reads slowly holds the client's pipe (${kind})`, async () => {
    const { engine, end } = await make({ store: new MemoryStore() });
    const [heard, most] = [[], { ahead: 0 }];
    let all;
    const heardAll = new Promise((resolve) => (all = resolve));
    const count = 256;
    const heardByAgent = (line) => {
      const { method, params } = JSON.parse(line);
      if (method === "_x/tell") heard.push(params.nth);
      if (heard.length === count) all();
    };
    const { layer, client, agent, toAgent } = await prompted(engine, { heardByAgent });
    const before = toAgent.heard.bytes;
    client.said.bytes = 0;
    await client.stream(
      (function* () {
        for (let nth = 0; nth < count; nth++) {
          most.ahead = Math.max(most.ahead, client.said.bytes - (toAgent.heard.bytes - before));
          yield encode(message({ method: "_x/tell", params: { nth, text: "x".repeat(MIB / 16) } }));
        }
      })(),
    );
    await heardAll;
    client.end();
    agent.end();
    await layer.closed;
    await end();
    assert.ok(most.ahead > MIB && most.ahead < 6 * MIB, `${most.ahead} bytes were read of the client and by nobody`);
    assert.deepEqual(heard, Array.from({ length: count }, (_, nth) => nth));
  });
}

test("a client that reads nothing more keeps nobody from the end", async () => {
  const engine = await createEngine({ store: new MemoryStore() });
  let isReading = true;
  const [client, agent] = [speaker(), speaker()];
  let full;
  const stuck = new Promise((resolve) => (full = resolve));
  const takes = () => (isReading ? undefined : (full(), new Promise(() => {})));
  const toAgent = reader((line) => {
    const { id, method } = JSON.parse(line);
    if (method === "initialize") agent.say(message({ id, result: { protocolVersion: 1, agentCapabilities: {} } }));
  });
  let answered;
  const initialized = new Promise((resolve) => (answered = resolve));
  const bytes = true;
  const layer = sessionLayer(engine, {
    client: { readable: client.readable, writable: reader(() => answered(), takes).writable, bytes },
    agent: { readable: agent.readable, writable: toAgent.writable, bytes },
  });
  client.say(message({ id: 0, method: "initialize", params: { protocolVersion: 1 } }));
  await initialized;
  isReading = false;
  client.say(message({ id: 1, method: "session/list", params: {} }));
  await stuck;
  client.end();
  agent.end();
  assert.equal((await layer.closed).by, "client");
});

test("between bytes and bytes no number is rounded", async () => {
  const engine = await createEngine({ store: new MemoryStore() });
  const heard = [];
  let told;
  const arrived = new Promise((resolve) => (told = resolve));
  const heardByAgent = (line) => {
    heard.push(line);
    if (line.includes("_x/tell")) told();
  };
  const { layer, client, agent } = await prompted(engine, { heardByAgent });
  const line = '{"jsonrpc":"2.0","method":"_x/tell","params":{ "n": 12345678901234567890, "e":1.0e2 }}';
  client.say(line);
  await arrived;
  client.end();
  agent.end();
  await layer.closed;
  assert.equal(heard.at(-1), line);
});
