// What is survived: an instance that is lost to an exception of its store.

import assert from "node:assert/strict";
import { test } from "node:test";

import { EngineError, MemoryStore, Refused, StorageError, createEngine } from "../src/index.js";
import { refusals } from "../src/refusals.js";

/** A store in memory that throws at the next calls of a function, an exception or an error of the WIT. */
class Shaky extends MemoryStore {
  #thrown = [];

  throwing(function_, times, make = () => new Error("out of order")) {
    this.#thrown = Array.from({ length: times }, () => [function_, make]);
  }

  #strike(name) {
    if (this.#thrown[0]?.[0] === name) throw this.#thrown.shift()[1]();
  }

  get(keys) {
    this.#strike("get");
    return super.get(keys);
  }

  scan(...args) {
    this.#strike("scan");
    return super.scan(...args);
  }

  commit(...args) {
    this.#strike("commit");
    return super.commit(...args);
  }
}

/** A connection in which a session `s1` waits for the answer to its prompt. */
async function prompted() {
  const [store, warnings, clock] = [new Shaky(), [], { now: 1_760_000_000_000 }];
  const engine = await createEngine({ store, now: () => clock.now, warn: (text) => warnings.push(text) });
  const say = (peer, message) => {
    const val = typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message });
    const { outputs } = engine.receive([{ peer, content: { tag: "line", val } }]);
    return outputs.map((output) => ({ to: output.tag.slice(3), ...JSON.parse(output.val) }));
  };
  say("client", { id: 0, method: "initialize", params: { protocolVersion: 1 } });
  say("agent", { id: 0, result: { protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: "a", version: "1" } } });
  say("client", { id: 1, method: "session/new", params: { cwd: "/home/x", mcpServers: [] } });
  say("agent", { id: 1, result: { sessionId: "s1" } });
  const prompt = [{ type: "text", text: "Go" }];
  const asked = say("client", { id: 2, method: "session/prompt", params: { sessionId: "s1", prompt } });
  assert.equal(asked.find(({ to }) => to === "agent").method, "session/prompt");
  return { engine, store, say, warnings, clock };
}

/** The turn that was under way ends well, and is in the history. */
function endsWell({ engine, say }) {
  const ended = say("agent", { id: 2, result: { stopReason: "end_turn" } });
  assert.equal(ended.find(({ id }) => id === 2).result.stopReason, "end_turn");
  const { updates } = engine.sessions.readTranscript("s1", undefined, 10);
  assert.match(updates[0].update, /"text":"Go"/);
}

const list = { id: 3, method: "session/list", params: {} };

const said = [/please try again/, /fails at this line/, /failed at this request/];
for (const [before, message] of said.entries()) {
  const times = before + 1;
  test(`a request at which ${times} instances are lost fails, and a turn under way goes on`, async () => {
    const connection = await prompted();
    connection.store.throwing("get", times);
    const answers = connection.say("client", list);
    assert.deepEqual(answers.map(({ to, id, error }) => [to, id, error?.code]), [["client", 3, -32603]]);
    assert.match(answers[0].error.message, message);
    assert.equal(connection.warnings.filter((text) => text.includes("started anew")).length, times);
    const [again] = connection.say("client", { ...list, id: 4 });
    assert.equal(again.result.sessions[0].sessionId, "s1");
    endsWell(connection);
  });
}

test("an error of the store is an answer and loses nothing", async () => {
  const connection = await prompted();
  connection.store.throwing("scan", 1, () => new StorageError("unavailable", "busy"));
  const [answer] = connection.say("client", list);
  assert.match(answer.error.message, /busy/);
  assert.deepEqual(connection.warnings, []);
  endsWell(connection);
});

test("a store that answers with a promise by mistake loses the instance, which says why, and nothing counts as written", async () => {
  const connection = await prompted();
  const { store } = connection;
  const { commit } = store;
  store.commit = async () => {
    store.commit = commit;
    throw new Error("the disk is on fire");
  };
  assert.throws(() => connection.engine.sessions.renameSession("s1", "Title"), (error) => {
    return error instanceof EngineError && /the store's `commit` has returned a promise/.test(error.message);
  });
  assert.notEqual(connection.engine.sessions.getSession("s1").title, "Title");
  store.get = async (...args) => {
    delete store.get;
    return store.get(...args);
  };
  const [answer] = connection.say("client", list);
  assert.deepEqual([answer.id, answer.error.code], [3, -32603]);
  assert.match(connection.warnings[0], /the store's `get` has returned a promise: its functions are synchronous/);
  // A promise that fails and that nobody waits for would end the process.
  await new Promise(setImmediate);
  endsWell(connection);
});

test("what is kept of a turn survives an instance that is lost as time passes", async () => {
  const connection = await prompted();
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Half an answer" } };
  connection.say("agent", { method: "session/update", params: { sessionId: "s1", update } });
  connection.store.throwing("commit", 1);
  connection.clock.now += 1000;
  connection.engine.idle();
  assert.equal(connection.warnings.length, 1);
  connection.engine.pull();
  endsWell(connection);
});

test("an engine whose instances are all lost is at an end", async () => {
  const { engine, store } = await prompted();
  for (const name of ["get", "scan", "commit", "logEnd", "readLog"]) {
    store[name] = () => {
      throw new Error("gone");
    };
  }
  const val = JSON.stringify({ jsonrpc: "2.0", id: 9, method: "session/load", params: { sessionId: "s1", cwd: "/home/x", mcpServers: [] } });
  const endless = () => {
    for (let nth = 0; nth < 5; nth++) engine.receive([{ peer: "client", content: { tag: "line", val } }]);
    engine.peerClosed("client");
    for (let nth = 0; nth < 5; nth++) engine.idle();
  };
  assert.throws(endless, EngineError);
  assert.throws(() => engine.idle(), EngineError);
});

test("an argument of a wrong type is refused before anything is handed over, and nothing is lost", async () => {
  const connection = await prompted();
  const { engine } = connection;
  const line = { tag: "line", val: "{}" };
  const wrong = [
    () => engine.receive([{ peer: "client", content: { tag: "line", val: { id: 1 } } }]),
    () => engine.receive([{ peer: "client", content: { tag: "line", val: 5 } }]),
    () => engine.receive([{ peer: "client", content: { tag: "line", val: Buffer.from("{}") } }]),
    () => engine.receive([{ peer: "client", content: line }, { jsonrpc: "2.0", id: 1, method: "session/list", params: {} }]),
    () => engine.receive([{ peer: "Client", content: line }]),
    () => engine.receive([{ peer: "client", content: { tag: "text", val: "{}" } }]),
    () => engine.receive([undefined]),
    () => engine.receive({ peer: "client", content: line }),
    () => engine.receive([], "much"),
    () => engine.receive([], -1),
    () => engine.pull(NaN),
    () => engine.peerClosed("server"),
    () => engine.agentRestarted(1),
    () => engine.sessions.listSessions(undefined, 10),
    () => engine.sessions.listSessions({ archived: "gone" }, 10),
    () => engine.sessions.listSessions({ archived: "hidden", subagents: "no" }, 10),
    () => engine.sessions.listSessions({ archived: "hidden", search: 5 }, 10),
    () => engine.sessions.listSessions({ archived: "hidden" }, -1),
    () => engine.sessions.listSessions({ archived: "hidden" }, 2 ** 32 + 1),
    () => engine.sessions.listSessions({ archived: "hidden" }, 10, 5),
    () => engine.sessions.changesSince({ archived: "hidden" }, {}),
    () => engine.sessions.getSession(),
    () => engine.sessions.readTranscript("id", undefined, "10"),
    () => engine.sessions.renameSession("id", null),
    () => engine.sessions.archiveSession("id", "yes"),
    () => engine.sessions.pruneSessions(new Date(), undefined, 10),
    () => engine.sessions.moveSessions("/old", undefined, 10),
    () => engine.sessions.checkStore("all", undefined, 10),
  ];
  for (const call of wrong) assert.throws(call, TypeError, String(call));
  assert.deepEqual(connection.warnings, []);
  engine.pull(Infinity);
  endsWell(connection);
});

test("a setting that there is not is refused", async () => {
  await assert.rejects(createEngine({ store: new MemoryStore(), settings: { nonsense: 1 } }), (error) => {
    return error instanceof Refused && error.tag === "bad-setting";
  });
});

test("what the typed interface is refused is told by its error, and an instance that it loses is replaced", async () => {
  const { engine, store } = await prompted();
  assert.throws(() => engine.sessions.getSession("s9"), (error) => error instanceof Refused && error.tag === "not-found");
  store.throwing("get", 1);
  assert.throws(() => engine.sessions.getSession("s1"), EngineError);
  assert.equal(engine.sessions.getSession("s1").id, "s1");
});

test("refusals have the id as it was written, and go to whoever asked", () => {
  const line = (peer, val) => ({ peer, content: { tag: "line", val } });
  const outputs = refusals([
    line("client", '{"jsonrpc":"2.0","params":{"id":1},"id":12345678901234567890,"method":"x/ask"}'),
    line("agent", '{"method":"x/ask","id":"a \\" b"}'),
    line("client", '{"i\\u0064" : 1e3 ,"method":"x"}'),
    line("client", '{"jsonrpc":"2.0","method":"x/tell"}'),
    line("agent", '{"jsonrpc":"2.0","id":1,"result":{}}'),
    line("client", '{"id":'),
    { peer: "client", content: { tag: "not-bearable", val: '{"id":1,"method":"x"}' } },
  ]);
  const ids = outputs.map(({ tag, val }) => [tag, /"id":(.*),"error"/.exec(val)[1]]);
  assert.deepEqual(ids, [
    ["to-client", "12345678901234567890"],
    ["to-agent", '"a \\" b"'],
    ["to-client", "1e3"],
  ]);
});
