// The store of the browser, in Chromium: tabs at once, of which the one that has it open is closed or killed.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { folder } from "../newer/folders.js";
import * as program from "../newer/program.js";
import { serve } from "./server.js";
import { startBrowser } from "./tabs.js";

let server;
let browser;

before(async () => {
  server = await serve();
  browser = await startBrowser(server.url);
});

after(async () => {
  await browser?.end();
  server?.end();
});

/** So many tabs with a conversation each; those that are left are closed with the test. */
async function tabs(test, count, name, options) {
  const all = await Promise.all(Array.from({ length: count }, () => browser.tab()));
  test.after(() => Promise.all(all.map((tab) => tab.close())));
  await Promise.all(all.map((tab, nth) => tab.do("begin", `${name}-${nth}-`, name, options)));
  return all;
}

/** The one that has the store open first, and the others. */
async function byHolder(all) {
  const holds = await Promise.all(all.map((tab) => tab.do("holds")));
  assert.equal(holds.filter(Boolean).length, 1, JSON.stringify(holds));
  return [all[holds.indexOf(true)], ...all.filter((_, nth) => !holds[nth])];
}

test("three tabs have a conversation each at once, and see all of them", async (t) => {
  const all = await tabs(t, 3, "at-once");
  const said = await Promise.all(
    all.map(async (tab, nth) => {
      const session = await tab.do("newSession");
      for (let turn = 0; turn < 5; turn++) assert.equal(await tab.do("turn", session, `${nth} ${turn}`), "end_turn");
      return session;
    }),
  );
  await byHolder(all);
  for (const tab of all) {
    assert.deepEqual((await tab.do("list")).sort(), [...said].sort());
    for (const [nth, session] of said.entries()) {
      const prompts = [0, 1, 2, 3, 4].map((turn) => `${nth} ${turn}`);
      assert.deepEqual(await tab.do("transcript", session), [prompts, prompts.map((text) => `${text} `).join("")]);
    }
    assert.deepEqual(await tab.do("warnings"), []);
  }
});

for (const end of ["closed", "killed"]) {
  test(`the tab that has the store open is ${end} in the midst of turns and of a load, and another takes over`, async (t) => {
    const [holder, first, second] = await byHolder(await tabs(t, 3, end));
    const long = await first.do("newSession");
    const prompts = Array.from({ length: 30 }, (_, nth) => `${nth}-${"x".repeat(20_000)}`);
    const isWhole = (texts) => texts.length === prompts.length && texts.every((text, at) => text === prompts[at]);
    for (const text of prompts) assert.equal(await first.do("turn", long, text), "end_turn");
    const [at, theirs] = [await second.do("newSession"), await holder.do("newSession")];
    assert.equal(await second.do("turn", at, "before"), "end_turn");
    assert.equal(await holder.do("turn", theirs, "answered"), "end_turn");
    await second.do("beginTurn", at, "meanwhile");
    await holder.do("beginTurn", theirs, "unanswered");
    assert.equal(await first.do("beginLoad", long, 5), 5);
    if (end === "closed") await holder.close();
    else await holder.kill();
    // Another has taken over when there is an answer. The turn goes on; the load is told that it is to be tried again.
    assert.deepEqual((await second.do("transcript", at))[0], ["before", "meanwhile wait"]);
    assert.equal(await second.do("endTurn"), "end_turn");
    assert.equal((await first.do("endLoad")).error, -32603);
    assert.equal(await first.do("beginLoad", long, 5), 5);
    const loaded = await first.do("endLoad");
    assert.ok(loaded.isLoaded && isWhole(loaded.prompts), `${loaded.prompts.length} prompts`);
    assert.equal(await second.do("turn", at, "after"), "end_turn");
    await byHolder([first, second]);
    const fourth = (await tabs(t, 1, end))[0];
    for (const tab of [first, second, fourth]) {
      assert.deepEqual((await tab.do("list")).sort(), [long, at, theirs].sort());
      assert.ok(isWhole((await tab.do("transcript", long))[0]));
      assert.deepEqual((await tab.do("transcript", at))[0], ["before", "meanwhile wait", "after"]);
      assert.deepEqual((await tab.do("transcript", theirs))[0].slice(0, 1), ["answered"]);
    }
  });
}

test("nothing that was answered is lost where one holder after the other is killed under load", async (t) => {
  const [answered, failed] = [new Map(), []];
  let [count, next] = [0, () => {}];
  await browser.context.exposeFunction("told", (session, text, ended) => {
    if (ended === "end_turn") answered.set(session, [...(answered.get(session) ?? []), text]);
    else failed.push(ended);
    count++;
    next();
  });
  const talked = async (more) => {
    for (const until = count + more; count < until; ) await new Promise((resolve) => (next = resolve));
  };
  const all = await tabs(t, 3, "load");
  const begin = async (tab) => tab.do("keepTalking", await tab.do("newSession"));
  await Promise.all(all.map(begin));
  for (let left = all, round = 0; round < 4; round++) {
    await talked(20);
    const [holder, ...others] = await byHolder(left);
    await holder.kill();
    const [another] = await tabs(t, 1, "load");
    left = [...others, another];
    await begin(another);
    all.push(another);
  }
  await talked(20);
  const living = all.slice(-3);
  await Promise.all(living.map((tab) => tab.do("stopTalking")));
  // What was under way failed, and nothing else did.
  assert.deepEqual([...new Set(failed)].filter((code) => code !== -32603), []);
  const lists = await Promise.all(living.map((tab) => tab.do("list")));
  for (const [nth, tab] of living.entries()) {
    // Some may have begun sessions that they were killed in before there was an answer.
    assert.deepEqual(lists[nth], lists[0]);
    assert.deepEqual([...answered.keys()].filter((session) => !lists[nth].includes(session)), []);
    for (const [session, texts] of answered) {
      const [found] = await tab.do("transcript", session);
      assert.deepEqual(found.filter((text) => texts.includes(text)), texts, session);
    }
  }
  // The file is one of the program's, which finds it well.
  await Promise.all(living.map((tab) => tab.do("leave")));
  const path = join(folder(t), "sessions.db");
  await writeFile(path, await living[0].do("inWorker", "exported", "load"), "latin1");
  program.findNothingWrong(path);
  assert.deepEqual(program.told("list", path).map(({ sessionId }) => sessionId).sort(), [...lists[0]].sort());
});

test("the sessions of a tab that was killed are no longer open", async (t) => {
  const [holder, other] = await byHolder(await tabs(t, 2, "left"));
  const sessions = [await holder.do("newSession"), await other.do("newSession")];
  for (const [nth, tab] of [holder, other].entries()) assert.equal(await tab.do("turn", sessions[nth], "said"), "end_turn");
  await other.do("beginTurn", sessions[1], "meanwhile");
  // What is open is taken to be no longer open after some time in any case.
  await holder.stopClock();
  await other.kill();
  assert.deepEqual(await holder.do("pruned"), [sessions[1]]);
  assert.deepEqual(await holder.do("list"), [sessions[0]]);
  assert.ok(await holder.do("clean"));
  assert.deepEqual((await holder.do("transcript", sessions[0]))[0], ["said"]);
});

test("files that are somebody's still are waited for, and nothing in them is deleted", async (t) => {
  const [first] = await tabs(t, 1, "held");
  const session = await first.do("newSession");
  assert.equal(await first.do("turn", session, "answered"), "end_turn");
  await first.close();
  const keeper = await browser.tab();
  t.after(() => keeper.close());
  const held = await keeper.do("holdFiles", "held");
  assert.ok(held >= 2, `${held} files`);
  const isRefused = browser.context.waitForEvent("console", (message) => message.text().includes("held are somebody's still"));
  const opened = tabs(t, 1, "held");
  await isRefused;
  await keeper.do("releaseFiles");
  const [second] = await opened;
  assert.deepEqual(await second.do("transcript", session), [["answered"], "answered "]);
});

for (const what of ["ends", "does not come back"]) {
  test(`a worker that ${what} is replaced, and nothing is lost`, async (t) => {
    const name = what.replaceAll(" ", "-");
    const [holder, other] = await byHolder(await tabs(t, 2, name, { milliseconds: 5000 }));
    const sessions = [await holder.do("newSession"), await other.do("newSession")];
    for (const [nth, tab] of [holder, other].entries()) {
      assert.equal(await tab.do("turn", sessions[nth], "before"), "end_turn");
      await tab.do("beginTurn", sessions[nth], "meanwhile");
    }
    await holder.inWorker(what);
    for (const [nth, tab] of [holder, other].entries()) {
      assert.deepEqual((await tab.do("transcript", sessions[nth]))[0], ["before", "meanwhile wait"]);
      assert.equal(await tab.do("endTurn"), "end_turn");
    }
    // The other has taken over, and the first has a worker again that would.
    assert.deepEqual(await byHolder([holder, other]), [other, holder]);
    await other.do("leave");
    assert.deepEqual((await holder.do("transcript", sessions[1]))[0], ["before", "meanwhile wait"]);
    assert.ok(await holder.do("holds"));
  });
}

test("a tab that cannot open the store leaves it to the next one, and tries again when it is needed", async (t) => {
  const [holder, first] = await byHolder(await tabs(t, 2, "refused"));
  // Its turn comes next, and then SQLite cannot be had.
  await first.page.route("**/sqlite3.wasm", (route) => route.fulfill({ status: 404 }));
  const [second] = await tabs(t, 1, "refused");
  const session = await first.do("newSession");
  assert.equal(await first.do("turn", session, "before"), "end_turn");
  await holder.close();
  // Another has taken over when there is an answer.
  assert.deepEqual((await first.do("transcript", session))[0], ["before"]);
  assert.equal(await first.do("turn", session, "after"), "end_turn");
  assert.deepEqual(await byHolder([first, second]), [second, first]);
  await first.page.unroute("**/sqlite3.wasm");
  await second.close();
  assert.deepEqual((await first.do("transcript", session))[0], ["before", "after"]);
  assert.equal(await first.do("turn", session, "again"), "end_turn");
  assert.ok(await first.do("holds"));
  assert.deepEqual((await first.do("transcript", session))[0], ["before", "after", "again"]);
});

test("a tab that cannot open the store waits for one whose worker is only starting", async (t) => {
  const [holder, first] = await byHolder(await tabs(t, 2, "starting"));
  const session = await first.do("newSession");
  assert.equal(await first.do("turn", session, "before"), "end_turn");
  // Its turn comes next, and then SQLite cannot be had.
  const isRefused = new Promise((refused) => {
    first.page.route("**/sqlite3.wasm", async (route) => {
      await route.fulfill({ status: 404 });
      refused();
    });
  });
  const second = await browser.tab();
  let begun;
  const start = await new Promise((held) => {
    second.page.route("**/opfs/worker.js", (route) => held(() => route.continue()));
    begun = second.do("begin", "starting-", "starting");
  });
  await begun;
  await holder.close();
  const transcript = first.do("transcript", session);
  await isRefused;
  await start();
  assert.deepEqual((await transcript)[0], ["before"]);
  assert.deepEqual(await byHolder([first, second]), [second, first]);
  await second.close();
});

test("the example of the README for the store in the browser runs as it stands", async (t) => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const [, example] = /\*\*A store in the browser[^]*?```js\n([^]*?)```/.exec(readme);
  const [tab] = await tabs(t, 1, "sessions");
  const session = await tab.do("newSession");
  assert.equal(await tab.do("turn", session, "What is said first"), "end_turn");
  const said = tab.page.waitForEvent("console");
  await tab.page.evaluate(async (example) => {
    const url = URL.createObjectURL(new Blob([example], { type: "text/javascript" }));
    await import(url);
  }, example);
  assert.equal((await said).text(), `${session} What is said first`);
});
