// The layer between the official SDK and an agent: conversations, an instance that is lost, and how it ends.

import assert from "node:assert/strict";
import { test } from "node:test";

import { EngineError, MemoryStore, createEngine, sessionLayer } from "../src/index.js";
import { converse, echo, place, saying, session, textOf } from "./conversation.js";
import { ENGINES, PLACES } from "./layer.js";

/** Comes when a text was written to a log. */
function writing(store, text) {
  return new Promise((resolve) => {
    const { commit } = store;
    store.commit = (expected, writes, durability) => {
      commit.call(store, expected, writes, durability);
      if (writes.some(({ tag, val }) => /append|amend/.test(tag) && val.value.includes(text))) resolve();
    };
  });
}

for (const [kind, make] of Object.entries(ENGINES)) {
  for (const [where, between] of Object.entries(PLACES)) {
    /** One connection, from its first line to its end; returns how it ended. */
    const connect = async (store, run, state) => {
      const { engine, end } = await make({ store });
      const { layer, forClient, forAgent } = between(engine);
      echo(state).connect(forAgent);
      await converse(forClient, (conversation) => run({ ...conversation, engine }));
      const ended = await layer.closed;
      await end();
      return ended;
    };

    test(`the official SDK lists, loads, forks and deletes what it has said (${kind}, bytes ${where})`, async () => {
      const store = new MemoryStore();
      let sessionId;
      const ended = await connect(store, async ({ ask, updates }) => {
        ({ sessionId } = await ask(session.new, place));
        assert.equal((await ask(session.prompt, saying(sessionId, "All of these words"))).stopReason, "end_turn");
        assert.equal(textOf(updates, "agent_message_chunk"), "All of these words ");
      });
      assert.equal(ended.by, "client");

      await connect(store, async ({ ask, updates }) => {
        assert.deepEqual((await ask(session.list, {})).sessions.map((row) => row.sessionId), [sessionId]);
        await ask(session.load, { ...place, sessionId });
        assert.equal(textOf(updates, "user_message_chunk"), "All of these words");
        assert.equal(textOf(updates, "agent_message_chunk"), "All of these words ");
        const fork = await ask(session.fork, { ...place, sessionId });
        assert.equal((await ask(session.prompt, saying(fork.sessionId, "More"))).stopReason, "end_turn");
        await ask(session.delete, { sessionId });
        assert.deepEqual((await ask(session.list, {})).sessions.map((row) => row.sessionId), [fork.sessionId]);
      });
    });

    test(`a turn survives an instance that is lost in its midst (${kind}, bytes ${where})`, async () => {
      const store = new MemoryStore();
      const written = writing(store, "wait here ");
      const state = {};
      const waiting = new Promise((resolve) => (state.waiting = resolve));
      let sessionId;
      await connect(
        store,
        async ({ ask, engine }) => {
          ({ sessionId } = await ask(session.new, place));
          const turn = ask(session.prompt, saying(sessionId, "Please wait here"));
          const go = await waiting;
          // What was not written yet would be lost with the instance.
          await written;
          await engine.idle();
          const { scan } = store;
          store.scan = () => {
            store.scan = scan;
            throw new Error("out of order");
          };
          await assert.rejects(ask(session.list, {}), { code: -32603 });
          go();
          assert.equal((await turn).stopReason, "end_turn");
          assert.equal((await ask(session.list, {})).sessions.length, 1);
        },
        state,
      );
      const { updates } = (await createEngine({ store })).sessions.readTranscript(sessionId, undefined, 10);
      assert.deepEqual(updates.map(({ update }) => JSON.parse(update).content.text), ["Please wait here", "Please wait here "]);
    });
  }

  test(`what streams in is written though nothing more arrives (${kind})`, async () => {
    const store = new MemoryStore();
    const written = writing(store, "wait here ");
    const state = {};
    const waiting = new Promise((resolve) => (state.waiting = resolve));
    const { engine, end } = await make({ store });
    const layer = sessionLayer(engine, { agentGrace: 0 });
    echo(state).connect(layer.agent);
    await converse(layer.client, async ({ ask }) => {
      const { sessionId } = await ask(session.new, place);
      const turn = ask(session.prompt, saying(sessionId, "Please wait here"));
      const go = await waiting;
      await written;
      go();
      await turn;
    });
    await layer.closed;
    await end();
  });

  test(`what was said until the client left is kept, and the agent is told (${kind})`, async () => {
    const store = new MemoryStore();
    const { engine, end } = await make({ store, settings: { "flush-ms": 200 } });
    const layer = sessionLayer(engine);
    const ended = echo().connect(layer.agent).closed;
    let sessionId;
    await converse(layer.client, async ({ ask, updates, told }) => {
      ({ sessionId } = await ask(session.new, place));
      ask(session.prompt, saying(sessionId, "Please wait here")).catch(() => {});
      await new Promise((resolve) => (told.next = () => updates.length === 3 && resolve()));
    });
    assert.deepEqual(await layer.closed, { by: "client", error: undefined });
    await ended;
    const { updates } = await engine.sessions.readTranscript(sessionId, undefined, 10);
    assert.equal(JSON.parse(updates[1].update).content.text, "Please wait here ");
    await end();
  });

  test(`an agent that ends leaves nobody waiting (${kind})`, async () => {
    const { engine, end } = await make({ store: new MemoryStore() });
    const layer = sessionLayer(engine, { agentGrace: 0 });
    const state = {};
    const waiting = new Promise((resolve) => (state.waiting = resolve));
    const connection = echo(state).connect(layer.agent);
    await assert.rejects(
      converse(layer.client, async ({ ask, context }) => {
        const { sessionId } = await ask(session.new, place);
        const turn = ask(session.prompt, saying(sessionId, "Please wait here"));
        await waiting;
        connection.close();
        await assert.rejects(turn, { code: -32603 });
        await assert.rejects(ask(session.list, {}), /closed/);
        throw new Error("all as it should");
      }),
      /closed|all as it should/,
    );
    assert.equal((await layer.closed).by, "agent");
    await end();
  });
}

test("what waits for an agent does not keep the end of its input from it", async () => {
  const engine = await createEngine({ store: new MemoryStore() });
  const [agentGrace, begun] = [20_000, performance.now()];
  const layer = sessionLayer(engine, { agentGrace });
  const ended = async ({ readable }) => {
    const reader = readable.getReader();
    while (!(await reader.read()).done);
  };
  // It answers nothing, and ends when its input does, if it is listened to until then.
  const agent = ended(layer.agent).then(() => layer.agent.writable.close().catch(() => {}));
  const client = ended(layer.client);
  const writer = layer.client.writable.getWriter();
  for (const [id, [method, params]] of [["initialize", { protocolVersion: 1 }], [session.list, {}]].entries()) {
    await writer.write({ jsonrpc: "2.0", id, method, params });
  }
  await writer.close();
  assert.deepEqual(await layer.closed, { by: "client", error: undefined });
  await Promise.all([agent, client]);
  assert.ok(performance.now() - begun < agentGrace / 2);
});

test("a layer that is closed ends both sides", async () => {
  const engine = await createEngine({ store: new MemoryStore() });
  const layer = sessionLayer(engine, { agentGrace: 0 });
  const { closed } = echo().connect(layer.agent);
  await assert.rejects(
    converse(layer.client, async ({ ask }) => {
      await ask(session.new, place);
      layer.close();
      await new Promise(() => {});
    }),
    /closed/,
  );
  await closed;
  assert.deepEqual(await layer.closed, { by: "layer", error: undefined });
});

test("a prompt that is under way as the layer is closed is answered, though the agent does not end", async () => {
  const engine = await createEngine({ store: new MemoryStore() });
  const layer = sessionLayer(engine);
  const state = {};
  const waiting = new Promise((resolve) => (state.waiting = resolve));
  // It goes on until its turn is over, which it never is.
  echo(state).connect(layer.agent);
  await assert.rejects(
    converse(layer.client, async ({ ask }) => {
      const { sessionId } = await ask(session.new, place);
      const turn = ask(session.prompt, saying(sessionId, "Please wait here"));
      await waiting;
      layer.close();
      await assert.rejects(turn, { code: -32603 });
      throw new Error("all as it should");
    }),
    /all as it should/,
  );
  assert.deepEqual(await layer.closed, { by: "layer", error: undefined });
});

test("an engine that is at an end ends the connection, and who asked is told", async () => {
  const store = new MemoryStore();
  const engine = await createEngine({ store });
  const layer = sessionLayer(engine, { agentGrace: 0 });
  const { closed } = echo().connect(layer.agent);
  const failed = assert.rejects(layer.closed, EngineError);
  await assert.rejects(
    converse(layer.client, async ({ ask }) => {
      const { sessionId } = await ask(session.new, place);
      for (const name of ["get", "scan", "commit", "logEnd", "readLog"]) {
        store[name] = () => {
          throw new Error("gone");
        };
      }
      // Three are lost at it; then the layer itself says so.
      await assert.rejects(ask(session.load, { ...place, sessionId: "s9" }), { code: -32603 });
      await ask(session.prompt, saying(sessionId, "Go"));
    }),
    (error) => error.code === -32603 || /closed/.test(error.message),
  );
  await failed;
  await closed;
});

test("a side that fails is at an end, and it is told with what", async () => {
  const engine = await createEngine({ store: new MemoryStore() });
  const broken = new Error("the pipe broke");
  const client = { readable: new ReadableStream({ pull: (controller) => controller.error(broken) }), writable: new WritableStream() };
  const layer = sessionLayer(engine, { client, agentGrace: 0 });
  echo().connect(layer.agent);
  assert.deepEqual(await layer.closed, { by: "client", error: broken });
});
