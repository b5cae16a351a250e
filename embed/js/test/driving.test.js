// How the layer drives an engine: which calls it makes, in which order. The engine is one that only notes them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { EngineError, sessionLayer } from "../src/index.js";

const NOTHING = { outputs: [], more: false, held: false, full: false };

/** Notes what it is called, and answers as it is told: by the name of the function, what its next calls return. */
class Noting {
  flushMs = 1;
  calls = [];
  #answers;
  #waiting = [];

  constructor(answers = {}) {
    this.#answers = answers;
    for (const name of ["receive", "pull", "peerClosed", "idle"]) {
      this[name] = (...args) => {
        const lines = name === "receive" ? args[0].map(({ peer, content }) => `${peer}:${content.val}`) : args;
        this.calls.push(name === "pull" || name === "idle" ? name : `${name} ${lines}`);
        this.#waiting = this.#waiting.filter((waits) => !waits());
        const answer = this.#answers[name]?.shift();
        if (answer instanceof Error) throw answer;
        return name === "receive" || name === "pull" ? { ...NOTHING, ...answer } : answer;
      };
    }
  }

  /** Comes with the next call of this kind, or with as many. */
  called(pattern, times = 1) {
    let left = times;
    const isLast = () => pattern.test(this.calls.at(-1)) && --left === 0;
    return new Promise((resolve) => this.#waiting.push(() => isLast() && (resolve(), true)));
  }
}

/** A layer with this engine; both sides speak in lines. */
function connected(engine, agentGrace = 0) {
  const [fromClient, fromAgent, heard] = [new TransformStream(), new TransformStream(), []];
  const hears = (peer) => new WritableStream({
    write: (message) => void heard.push(`${peer} ${JSON.stringify(message)}`),
    close: () => void heard.push(`${peer} ends`),
  });
  const layer = sessionLayer(engine, {
    client: { readable: fromClient.readable, writable: hears("client") },
    agent: { readable: fromAgent.readable, writable: hears("agent") },
    agentGrace,
  });
  return { layer, heard, client: fromClient.writable.getWriter(), agent: fromAgent.writable.getWriter() };
}

test("what arrives is followed by an idle, though the engine has asked for none", async () => {
  const engine = new Noting();
  const before = engine.called(/^idle$/);
  const { layer, client } = connected(engine);
  await before;
  const idled = engine.called(/^idle$/);
  client.write("1\n");
  await idled;
  layer.close();
  await layer.closed;
  assert.deepEqual(engine.calls.slice(0, 4), ["idle", "pull", "receive client:1", "idle"]);
});

test("the engine is called again when it has said it wants to be", async () => {
  const engine = new Noting({ idle: [0, 0, 1] });
  const idled = engine.called(/^idle$/, 4);
  const { layer } = connected(engine);
  await idled;
  layer.close();
  await layer.closed;
});

test("there is a pull as long as there is more", async () => {
  const says = (val) => ({ outputs: [{ tag: "to-client", val }], more: true });
  const engine = new Noting({ receive: [says("1")], pull: [says("2"), says("3")] });
  engine.flushMs = 60_000;
  const { layer, client, heard } = connected(engine);
  const pulled = engine.called(/^pull$/, 3);
  client.write("0\n");
  await pulled;
  await client.close();
  await layer.closed;
  assert.deepEqual(heard.filter((text) => text.startsWith("client")), ["client 1", "client 2", "client 3", "client ends"]);
});

test("others get their turn while there is more and more", async () => {
  const most = 2_000_000;
  let [pulls, isTurn] = [0, false];
  const engine = new Noting({ receive: [{ more: true }] });
  engine.flushMs = 60_000;
  engine.pull = () => ({ ...NOTHING, more: !isTurn && ++pulls < most });
  const { layer, client } = connected(engine);
  const received = engine.called(/^receive/);
  client.write("0\n");
  await received;
  await new Promise((resolve) => setTimeout(resolve));
  isTurn = true;
  layer.close();
  await layer.closed;
  assert.ok(pulls > 0 && pulls < most, `${pulls} pulls`);
});

test("a client that has left is served while the engine holds what it has asked", async () => {
  const engine = new Noting({ receive: [{ held: true }, { outputs: [{ tag: "to-agent", val: "2" }] }] });
  engine.flushMs = 60_000;
  const { layer, client, agent, heard } = connected(engine, 60_000);
  const [first, second] = [engine.called(/^receive client:1$/), engine.called(/^receive agent:9$/)];
  const left = engine.called(/^peerClosed client$/);
  client.write("1\n");
  await first;
  await client.close();
  agent.write("9\n");
  await second;
  await left;
  await agent.close();
  await layer.closed;
  const ends = ["peerClosed client", "pull", "peerClosed agent", "pull", "peerClosed client", "pull"];
  assert.deepEqual(engine.calls, ["receive client:1", "receive agent:9", ...ends]);
  assert.ok(heard.indexOf("agent 2") < heard.indexOf("agent ends"));
});

test("a client is not read while the engine is full", async () => {
  const engine = new Noting({ receive: Array.from({ length: 50 }, () => ({ full: true })) });
  engine.flushMs = 60_000;
  const { layer, client, agent } = connected(engine);
  const first = engine.called(/client:1/);
  client.write("1\n");
  await first;
  const [second, third] = [engine.called(/client:2/), engine.called(/client:3/)];
  client.write("2\n");
  client.write("3\n");
  for (let nth = 0; nth < 48; nth++) {
    const next = engine.called(new RegExp(`agent:${nth}$`));
    agent.write(`${nth}\n`);
    await next;
  }
  // One piece was being read already; what is behind it waits until the engine has room.
  assert.ok(!engine.calls.some((call) => call.includes("client:3")), engine.calls.join("; "));
  for (const nth of [97, 98, 99]) agent.write(`${nth}\n`);
  await Promise.all([second, third]);
  layer.close();
  await layer.closed;
});

test("a client that has left and reads nothing keeps no agent from speaking", async () => {
  const says = () => ({ outputs: [{ tag: "to-client", val: JSON.stringify("x".repeat(3 << 20)) }] });
  const engine = new Noting({ receive: Array.from({ length: 9 }, says) });
  engine.flushMs = 60_000;
  const [fromClient, fromAgent] = [new TransformStream(), new TransformStream()];
  const deaf = new WritableStream({ write: () => new Promise(() => {}) });
  const layer = sessionLayer(engine, {
    client: { readable: fromClient.readable, writable: deaf },
    agent: { readable: fromAgent.readable, writable: new WritableStream() },
    agentGrace: 60_000,
  });
  const [client, agent] = [fromClient.writable.getWriter(), fromAgent.writable.getWriter()];
  client.close();
  for (let nth = 0; nth < 8; nth++) await agent.write(`${nth}\n`);
  await agent.close();
  assert.equal((await layer.closed).by, "client");
  assert.ok(engine.calls.some((call) => call.includes("agent:7")));
});

test("an engine that fails is at an end: what it has left to say is said, and both sides are told", async () => {
  const outputs = [{ tag: "to-client", val: '{"id":1}' }, { tag: "to-agent", val: '{"id":2}' }];
  const failed = Object.assign(new EngineError("lost"), { outputs });
  const { layer, client, heard } = connected(new Noting({ receive: [failed] }));
  client.write("1\n");
  await assert.rejects(layer.closed, failed);
  assert.deepEqual(heard.sort(), ["agent ends", 'agent {"id":2}', "client ends", 'client {"id":1}']);
});

test("what arrives from both sides is given in the order in which it came", async () => {
  const engine = new Noting();
  let go;
  const slow = new Promise((resolve) => (go = resolve));
  const { receive } = engine;
  engine.receive = async (...args) => {
    const step = receive(...args);
    await slow;
    return step;
  };
  engine.flushMs = 60_000;
  const { layer, client, agent } = connected(engine);
  const first = engine.called(/^receive client:1$/);
  client.write("1\n");
  await first;
  const rest = engine.called(/^receive agent:2,client:3,agent:4$/);
  await agent.write("2\n");
  await client.write("3\n");
  await agent.write("4\n");
  go();
  await rest;
  layer.close();
  await layer.closed;
});
