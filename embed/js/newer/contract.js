// The store in a file keeps the contract of storages, and plays the conformance corpus. What its searches cost is counted where SQLite lets
// it be counted (`test/sql-store.test.js`): the statements are the same.

import assert from "node:assert/strict";
import { closeSync, openSync, writeSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";

import { FileStore } from "acp-sessions/node-sqlite";

import { load } from "../src/load.js";
import { cases } from "../test/cases.js";
import { STATES, contract } from "../test/contract.js";
import { play } from "../test/player.js";
import { fill, forbid, turning } from "../test/states.js";
import { folder } from "./folders.js";

const corpus = new URL("../../../tests/corpus/", import.meta.url);
const names = (await readdir(corpus, { recursive: true })).filter((name) => name.endsWith(".json")).sort();
const [all, bindings] = [await cases(), await load()];

let within;
before(() => (within = folder({ after })));

const opened = [];
after(() => opened.forEach((one) => one.close()));
let files = 0;
function open(options) {
  const store = new FileStore(join(within, `${files++}.db`), options);
  opened.push(store);
  return store;
}
const openImpatient = () => open({ busyFor: 1 });

const pathOf = ({ database }) => [...database.rows("PRAGMA database_list")][0][2];

/** Somebody writes, and does not come to an end. */
function keepBusy(store) {
  const other = new DatabaseSync(pathOf(store));
  opened.push(other);
  other.exec("BEGIN IMMEDIATE");
}

/** Overwrites all pages but the first, which says what the file is: that is read when a store is opened. */
function damage(store) {
  const number = (name) => Number([...store.database.rows(`PRAGMA ${name}`)][0][0]);
  // What was written is in the file and not in its journal from now on.
  store.database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const [pages, size] = [number("page_count"), number("page_size")];
  // To close it drops this process's locks, which nobody else is there to miss.
  const file = openSync(pathOf(store), "r+");
  writeSync(file, Buffer.alloc(size * (pages - 1), 0xff), 0, undefined, size);
  closeSync(file);
  // Nor is it in memory.
  store.database.exec("PRAGMA shrink_memory");
}

const turn = turning({ full: fill, "read-only": forbid, busy: keepBusy, damaged: damage });

test("the store in a file keeps the contract", async () => {
  assert.ok(all.length > 20, `${all.length} cases`);
  assert.deepEqual(await contract(all, openImpatient, { turn }), []);
});

test("a store in a file that does not come to a state is found", async () => {
  for (const leftOut of STATES) {
    const ofIt = all.filter(([, { needs }]) => needs?.includes(leftOut));
    assert.equal((await contract(ofIt, openImpatient, { turn: () => {} })).length, ofIt.length, leftOut);
  }
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
