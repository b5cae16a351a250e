// The store of the browser, in Chromium: the contract of storages and the conformance corpus over the origin's private file system.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { after, before, test } from "node:test";

import { cases } from "../test/cases.js";
import { serve } from "./server.js";
import { startBrowser } from "./tabs.js";

const corpus = new URL("../../../tests/corpus/", import.meta.url);
const names = (await readdir(corpus, { recursive: true })).filter((name) => name.endsWith(".json")).sort();
let server;
let browser;
let tab;

before(async () => {
  server = await serve();
  browser = await startBrowser(server.url);
  tab = await browser.tab();
});

after(async () => {
  await browser?.end();
  server?.end();
});

// The first of all: a file that has been large before may keep its room.
test("a store without room says so, and goes on when there is some", async () => {
  assert.ok(await tab.do("inWorker", "begin"));
  assert.equal(await tab.do("inWorker", "write", 1), 1);
  const quota = (quotaSize) => tab.ask("Storage.overrideQuotaForOrigin", { origin: new URL(server.url).origin, quotaSize });
  await quota(1);
  try {
    assert.deepEqual(await tab.do("inWorker", "write", 4 << 20), [{ tag: "full" }, 1]);
  } finally {
    await quota(undefined);
  }
  assert.equal(await tab.do("inWorker", "write", 4 << 20), 4 << 20);
});

test("the store keeps the contract", async () => {
  assert.deepEqual(await tab.do("inWorker", "contract", await cases()), []);
  assert.equal(await tab.do("inWorker", "pragma", "journal_mode"), "wal");
  assert.equal(await tab.do("inWorker", "pragma", "user_version"), "4");
});

test("the corpus is there", () => assert.ok(names.length > 100, `${names.length} cases`));

for (const name of names) {
  test(name, async () => {
    const wanted = JSON.parse(await readFile(new URL(name, corpus), "utf8"));
    const played = await tab.do("inWorker", "play", wanted);
    for (const [nth, step] of wanted.steps.entries()) assert.deepEqual(played.steps[nth], step, `step ${nth}`);
    assert.deepEqual(played.end, wanted.end);
  });
}

test("cleaning leaves nothing of what was removed", async () => {
  assert.deepEqual(await tab.do("inWorker", "secret", "xylophone"), [true, true, true, false]);
});

test("a store of a later version and another program's database are refused with the reason", async () => {
  for (const [sql, reason, text] of [
    ["PRAGMA user_version = 99", "too-new", /format 99, this package knows formats up to 4/],
    ["PRAGMA application_id = 1", "foreign", /another program's database; it was not changed/],
  ]) {
    assert.ok(await tab.do("inWorker", "spoil", { name: reason, sql }));
    const [name, ...why] = await tab.do("refusal", reason);
    assert.deepEqual([name, why[0]], ["OpenError", reason]);
    assert.match(why[1], text);
  }
});

test("a store whose worker cannot be started is refused", async () => {
  const other = await browser.tab();
  await other.page.route("**/opfs/worker.js", (route) => route.fulfill({ status: 404 }));
  const [name, reason, text] = await other.do("refusal", "no-worker");
  assert.deepEqual([name, reason], ["OpenError", "open"]);
  assert.match(text, /worker cannot be started/);
  await other.page.unroute("**/opfs/worker.js");
  await other.page.route("**/sqlite3.wasm", (route) => route.fulfill({ status: 404 }));
  assert.deepEqual((await other.do("refusal", "no-sqlite")).slice(0, 2), ["OpenError", "open"]);
  await other.close();
});
