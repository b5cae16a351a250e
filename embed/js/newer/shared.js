// The package and the program `acp-sessions` work on one file: in turn, and at once.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { FileStore } from "acp-sessions/node-sqlite";

import { folder } from "./folders.js";
import * as program from "./program.js";
import { TURNS, Turns, prompts, promptsIn } from "./turns.js";

const WORKER = fileURLToPath(new URL("turns.js", import.meta.url));
/** How many sessions each of those has that are at work at once. */
const SESSIONS = 9;
const NO_TIME = ["--older-than", "999d"];

const placeFor = (test) => join(folder(test), "sessions.db");

/** A process of Node's that has turns in the store, for as long as a test lasts. */
async function worker(test, store, name, count) {
  const child = spawn(process.execPath, [WORKER, store, name, String(count)], { stdio: ["pipe", "pipe", "inherit"] });
  test.after(() => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, '"ready"');
  return {
    go: () => child.stdin.write("\n"),
    /** What it says of its sessions that it has kept. It is killed when it has said so many things. */
    async hear(until) {
      const kept = new Map();
      let heard = 0;
      for await (const line of { [Symbol.asyncIterator]: () => lines }) {
        const [session, text] = JSON.parse(line);
        if (text === undefined) kept.delete(session);
        else kept.set(session, [...(kept.get(session) ?? []), text]);
        if (++heard === until) child.kill("SIGKILL");
      }
      const [code, signal] = await ended;
      assert.deepEqual([code, signal], until === undefined ? [0, null] : [null, "SIGKILL"]);
      return kept;
    },
  };
}

/** The same turns by the program. */
async function programAtWork(test, store, ready) {
  const [kept, agent] = [new Map(), await program.Agent.begin(test, store)];
  await ready();
  for (let nth = 0; nth < SESSIONS; nth++) {
    const session = await agent.new();
    const texts = Array.from({ length: TURNS }, (_, turn) => `program ${nth} ${turn}`);
    for (const text of texts) await agent.prompt(session, text);
    if (nth % 3 === 2) await agent.ask("session/delete", { sessionId: session });
    else kept.set(session, texts);
  }
  await agent.end();
  return kept;
}

test("what one has written the other reads, in turn", async (t) => {
  const path = placeFor(t);
  const [agent, store] = [await program.Agent.begin(t, path), new FileStore(path)];
  const theirs = await agent.new();
  await agent.prompt(theirs, "the first words, by the program");
  const turns = await Turns.begin(store, "node");
  const { sessions } = turns.engine;
  assert.deepEqual(promptsIn(sessions, theirs), ["the first words, by the program"]);
  const ours = turns.new();
  turns.prompt(ours, "the second words, by Node");
  sessions.renameSession(theirs, "Named by Node");
  const listed = new Map((await agent.ask("session/list")).sessions.map((one) => [one.sessionId, one]));
  assert.equal(listed.get(theirs).title, "Named by Node");
  assert.ok(listed.has(ours));
  await agent.prompt(theirs, "the third words, by the program");
  const found = sessions.listSessions({ archived: "hidden", subagents: false, search: '"third words"' }, 10, undefined);
  assert.deepEqual(found.sessions.map(({ id }) => id), [theirs]);
  await agent.end();
  store.close();
  assert.deepEqual(program.told("list", path).map(({ sessionId }) => sessionId).sort(), [theirs, ours].sort());
  assert.deepEqual(program.told("list", path, "--search", "second").map(({ sessionId }) => sessionId), [ours]);
  assert.deepEqual(prompts(program.told("show", path, ours)), ["the second words, by Node"]);
  program.run("delete", path, theirs);
  const again = new FileStore(path);
  const left = (await Turns.begin(again, "again")).engine.sessions.listSessions({ archived: "hidden", subagents: false }, 10, undefined);
  assert.deepEqual(left.sessions.map(({ id }) => id), [ours]);
  again.close();
  program.findNothingWrong(path);
});

test("nothing is lost where processes of both kinds are at work at once, and one is killed", async (t) => {
  const path = placeFor(t);
  const workers = await Promise.all(["first", "second"].map((name) => worker(t, path, name, SESSIONS)));
  const killed = await worker(t, path, "killed", 1000);
  let waiting = 2;
  const { promise: all, resolve: go } = Promise.withResolvers();
  const ready = () => {
    if (--waiting === 0) go();
    return all;
  };
  all.then(() => [...workers, killed].forEach((one) => one.go()));
  // The killed one has told of six sessions by then, and that two of them are deleted.
  const works = [...workers.map((one) => one.hear()), killed.hear(20), programAtWork(t, path, ready), programAtWork(t, path, ready)];
  const kept = new Map((await Promise.all(works)).flatMap((of) => [...of]));
  assert.ok(kept.size >= (4 * SESSIONS * 2) / 3 + 4, `${kept.size} sessions`);
  const store = new FileStore(path);
  const { sessions } = (await Turns.begin(store, "reader")).engine;
  const listed = sessions.listSessions({ archived: "hidden", subagents: false }, 1000, undefined).sessions.map(({ id }) => id);
  const found = new Map(listed.map((session) => [session, promptsIn(sessions, session)]));
  store.close();
  // What the killed one went on with was not told.
  assert.deepEqual(listed.filter((session) => !kept.has(session) && !session.startsWith("killed-")), []);
  for (const [session, texts] of kept) assert.deepEqual(found.get(session)?.slice(0, texts.length), texts, session);
  program.findNothingWrong(path);
});

/** A store with other sessions, one that goes on, and one less. */
async function withASecretDeleted(path) {
  const store = new FileStore(path);
  const turns = await Turns.begin(store, "node");
  for (let nth = 0; nth < 30; nth++) turns.prompt(turns.new(), `other words ${nth}`);
  // A new file is looked through once in any case.
  program.run("prune", path, ...NO_TIME);
  const session = turns.new();
  turns.prompt(session, "xylophone quixotry");
  turns.delete(session);
  return store;
}

function holdsTheSecret(path) {
  const content = Buffer.concat(readdirSync(dirname(path)).map((name) => readFileSync(join(dirname(path), name))));
  assert.ok(content.includes("other words 7"));
  return content.includes("xylophone");
}

test("what is deleted here is cleaned out of the file by the program", async (t) => {
  const path = placeFor(t);
  (await withASecretDeleted(path)).close();
  assert.ok(holdsTheSecret(path));
  program.run("prune", path, ...NO_TIME);
  assert.ok(!holdsTheSecret(path));
  program.findNothingWrong(path);
});

test("what is deleted here can be cleaned out of the file at once", async (t) => {
  const path = placeFor(t);
  const [store, agent] = [await withASecretDeleted(path), await program.Agent.begin(t, path)];
  const theirs = await agent.new();
  await agent.prompt(theirs, "by the program");
  assert.ok(store.clean());
  await agent.prompt(theirs, "and after it");
  const { sessions } = (await Turns.begin(store, "reader")).engine;
  assert.equal(sessions.listSessions({ archived: "hidden", subagents: false, search: "words 7" }, 10, undefined).sessions.length, 1);
  assert.deepEqual([...store.database.rows("SELECT removed - covered, stage, first FROM cleaning")], [[0n, 0n, 0n]]);
  store.close();
  await agent.end();
  assert.ok(!holdsTheSecret(path));
  program.findNothingWrong(path);
});
