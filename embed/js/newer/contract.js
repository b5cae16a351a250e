// The store in a file keeps the contract of storages, and plays the conformance corpus. What its searches cost is counted where SQLite lets
// it be counted (`test/sql-store.test.js`): the statements are the same.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { FileStore } from "acp-sessions/node-sqlite";

import { load } from "../src/load.js";
import { cases } from "../test/cases.js";
import { contract } from "../test/contract.js";
import { play } from "../test/player.js";
import { folder } from "./folders.js";

const corpus = new URL("../../../tests/corpus/", import.meta.url);
const names = (await readdir(corpus, { recursive: true })).filter((name) => name.endsWith(".json")).sort();
const [all, bindings] = [await cases(), await load()];

let within;
before(() => (within = folder({ after })));

const stores = [];
function open() {
  const store = new FileStore(join(within, `${stores.length}.db`));
  stores.push(store);
  return store;
}
after(() => stores.forEach((store) => store.close()));

test("the store in a file keeps the contract", () => {
  assert.ok(all.length > 20, `${all.length} cases`);
  assert.deepEqual(contract(all, open), []);
});

test("the corpus is there", () => assert.ok(names.length > 100, `${names.length} cases`));

for (const name of names) {
  test(name, async () => {
    const wanted = JSON.parse(await readFile(new URL(name, corpus), "utf8"));
    const store = open();
    const played = play(bindings, store, wanted);
    for (const [nth, step] of wanted.steps.entries()) assert.deepEqual(played.steps[nth], step, `step ${nth}`);
    assert.deepEqual(played.end, wanted.end);
  });
}
