// An engine with a deadline: what does not end is ended, and all else goes on. The engine that does what it should not is
// `tests/hostile`, whose bindings are in `hostile/bindings`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createGuardedEngine } from "../src/guarded.js";
import { EngineError, MemoryStore, Refused, StorageError } from "../src/index.js";

const hostile = new URL("../hostile/bindings/", import.meta.url);

function talk(engine) {
  return async (peer, message) => {
    const val = JSON.stringify({ jsonrpc: "2.0", ...message });
    const { outputs } = await engine.receive([{ peer, content: { tag: "line", val } }]);
    return outputs.map((output) => ({ to: output.tag.slice(3), ...JSON.parse(output.val) }));
  };
}

test("a call that does not end loses its instance alone", async () => {
  const warnings = [];
  const warn = (text) => warnings.push(text);
  const engine = await createGuardedEngine({ store: new MemoryStore(), warn, folder: hostile, milliseconds: 2000 });
  const say = talk(engine);
  await say("client", { id: 0, method: "initialize" });
  // Open in the engine while another request does not end: it is in the memos.
  await say("client", { id: 1, method: "hostile/idle", params: { what: "nothing" } });
  const answers = await say("client", { id: 2, method: "hostile/receive", params: { what: "loop" } });
  const failed = answers.filter(({ error }) => error).map(({ id, error }) => [id, error.code]);
  assert.deepEqual(failed.sort(), [[1, -32603], [2, -32603]]);
  assert.match(warnings[0], /longer than 2000 ms/);
  const [count] = await say("client", { id: 3, method: "hostile/count" });
  assert.equal(count.result.lost, 1);
  await say("client", { id: 4, method: "hostile/idle", params: { what: "loop" } });
  await engine.idle();
  const { outputs } = await engine.pull();
  assert.deepEqual(outputs.map(({ val }) => JSON.parse(val)).filter(({ id }) => id === 4).map(({ error }) => error.code), [-32603]);
  await assert.rejects(engine.sessions.getSession("loop"), EngineError);
  await engine.close();
  await assert.rejects(engine.idle(), EngineError);
});

test("what is under way as an engine is closed fails, and nothing is started anew", async () => {
  const warnings = [];
  const engine = await createGuardedEngine({ store: new MemoryStore(), warn: (text) => warnings.push(text), folder: hostile });
  const looping = talk(engine)("client", { id: 1, method: "hostile/receive", params: { what: "loop" } });
  const typed = engine.sessions.getSession("loop");
  const ends = [assert.rejects(looping, EngineError), assert.rejects(typed, EngineError)];
  await new Promise(setImmediate);
  await engine.close();
  await Promise.all(ends);
  assert.deepEqual(warnings, []);
});

test("an engine that never starts again is at an end", async () => {
  const engine = await createGuardedEngine({ store: new MemoryStore(), folder: hostile });
  const say = talk(engine);
  await say("client", { id: 1, method: "hostile/forever" });
  await assert.rejects(say("client", { id: 2, method: "hostile/receive", params: { what: "trap" } }), EngineError);
  await assert.rejects(engine.idle(), EngineError);
});

test("the store stays where it is, its errors are answers and its exceptions lose the instance", async () => {
  const [store, warnings] = [new MemoryStore(), []];
  let now = 1_760_000_000_000;
  const random = (bytes) => bytes.fill(7);
  const engine = await createGuardedEngine({ store, random, now: () => now, warn: (text) => warnings.push(text) });
  const say = talk(engine);
  await say("client", { id: 0, method: "initialize", params: { protocolVersion: 1 } });
  await say("agent", { id: 0, result: { protocolVersion: 1, agentCapabilities: {} } });
  await say("client", { id: 1, method: "session/new", params: { cwd: "/home/x", mcpServers: [] } });
  await say("agent", { id: 1, result: { sessionId: "s1" } });
  const prompt = [{ type: "text", text: "Go" }];
  await say("client", { id: 2, method: "session/prompt", params: { sessionId: "s1", prompt } });
  const once = (name, error) => {
    const own = store[name];
    store[name] = () => {
      store[name] = own;
      throw error;
    };
  };
  once("scan", new StorageError("unavailable", "busy"));
  const [busy] = await say("client", { id: 3, method: "session/list", params: {} });
  assert.match(busy.error.message, /busy/);
  assert.deepEqual(warnings, []);
  once("scan", new TypeError("out of order"));
  const [lost] = await say("client", { id: 4, method: "session/list", params: {} });
  assert.deepEqual([lost.id, lost.error.code, warnings.length], [4, -32603, 1]);
  now += 1000;
  const ended = await say("agent", { id: 2, result: { stopReason: "end_turn" } });
  assert.equal(ended.find(({ id }) => id === 2).result.stopReason, "end_turn");
  const session = await engine.sessions.getSession("s1");
  assert.equal(session.createdAt, new Date(1_760_000_000_000).toISOString());
  await assert.rejects(engine.sessions.getSession("s9"), (error) => error instanceof Refused && error.tag === "not-found");
  await engine.close();
});

test("a store that returns what it may not loses the instance, which says why", async () => {
  const [store, warnings] = [new MemoryStore(), []];
  const folders = { worktrees: async () => [] };
  const engine = await createGuardedEngine({ store, folders, warn: (text) => warnings.push(text) });
  const say = talk(engine);
  await say("client", { id: 0, method: "initialize", params: { protocolVersion: 1 } });
  await say("agent", { id: 0, result: { protocolVersion: 1, agentCapabilities: {} } });
  const { scan } = store;
  const wrong = [[async () => {}, /`scan` has returned a promise/], [() => () => {}, /could not be cloned/]];
  for (const [returns, why] of wrong) {
    store.scan = (...args) => {
      store.scan = scan;
      return returns(...args);
    };
    const [answer] = await say("client", { id: 1, method: "session/list", params: {} });
    assert.deepEqual([answer.id, answer.error.code], [1, -32603]);
    assert.match(warnings.pop(), why);
  }
  const listing = engine.sessions.listSessions({ cwds: ["/home/x"], archived: "hidden", subagents: false, includeWorktrees: true }, 10, undefined);
  await assert.rejects(listing, /`worktrees` has returned a promise/);
  await engine.close();
});

test("calls are made one after the other, in the order in which they were asked for", async () => {
  const engine = await createGuardedEngine({ store: new MemoryStore() });
  const say = talk(engine);
  const first = say("client", { id: 0, method: "initialize", params: { protocolVersion: 1 } });
  const second = say("agent", { id: 0, result: { protocolVersion: 1, agentCapabilities: {} } });
  const third = say("client", { id: 1, method: "session/list", params: {} });
  const all = (await Promise.all([first, second, third])).flat();
  assert.deepEqual(all.map(({ to, id }) => [to, id]), [["agent", 0], ["client", 0], ["client", 1]]);
  await engine.close();
});

test("an argument of a wrong type is refused before anything is handed over, and nothing is lost", async () => {
  const warnings = [];
  const engine = await createGuardedEngine({ store: new MemoryStore(), warn: (text) => warnings.push(text) });
  const content = { tag: "line", val: '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}' };
  await assert.rejects(engine.receive([{ peer: "client", content: { ...content, val: () => {} } }]), TypeError);
  await assert.rejects(engine.peerClosed("server"), TypeError);
  await assert.rejects(engine.sessions.getSession({ id: "id" }), TypeError);
  // What is beside it is no part of it, and may be what goes to no other thread.
  const { outputs } = await engine.receive([{ peer: "client", content: { ...content, more: () => {} }, done: () => {} }]);
  assert.deepEqual(outputs.map(({ tag }) => tag), ["to-agent"]);
  assert.deepEqual(warnings, []);
  await engine.close();
});

test("a setting that there is not is refused", async () => {
  const opened = createGuardedEngine({ store: new MemoryStore(), settings: { nonsense: 1 } });
  await assert.rejects(opened, (error) => error instanceof Refused && error.tag === "bad-setting");
});
