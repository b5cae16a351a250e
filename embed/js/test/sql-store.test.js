// The SQL store keeps the contract of storages, what it may cost included, by SQLite's build for WebAssembly in memory; one that does not is
// found. What this Node's own SQLite does is tried by a newer Node (`newer/`).

import assert from "node:assert/strict";
import { test } from "node:test";

import sqlite3InitModule from "@sqlite.org/sqlite-wasm";

import { OpenError, openOpfs } from "../src/opfs.js";
import { CODES } from "../src/sqlite/errors.js";
import { LEAST, Patience } from "../src/sqlite/patience.js";
import { SqlStore } from "../src/sqlite/store.js";
import { WasmDatabase, prepare } from "../src/sqlite/wasm/database.js";
import { cases } from "./cases.js";
import { STATES, contract } from "./contract.js";
import { fill, forbid, turning } from "./states.js";

const all = await cases();
const sqlite3 = await sqlite3InitModule();
const ALL = 0xffffffff;

function open(Store = SqlStore) {
  const database = new WasmDatabase(sqlite3, new sqlite3.oo1.DB());
  prepare(database, "in memory");
  return new Store(database);
}

/** How many steps SQLite's virtual machine takes: those of the statements that its text index runs by itself are counted too. */
function work({ database }, run) {
  let count = 0;
  const { capi } = sqlite3;
  capi.sqlite3_progress_handler(database.pointer, 1, () => (count++, 0), 0);
  try {
    run();
  } finally {
    capi.sqlite3_progress_handler(database.pointer, 0, 0, 0);
  }
  return count;
}

/** Another database in the place of the store's: its own, with all pages overwritten but the first, which says what it is. */
function damage({ database }) {
  const { capi, wasm } = sqlite3;
  const bytes = capi.sqlite3_js_db_export(database.pointer);
  const [[size]] = [...database.rows("PRAGMA page_size")];
  bytes.fill(0xff, Number(size));
  const place = wasm.allocFromTypedArray(bytes);
  const code = capi.sqlite3_deserialize(database.pointer, "main", place, bytes.length, bytes.length, capi.SQLITE_DESERIALIZE_FREEONCLOSE);
  assert.equal(code, 0);
}

/** Nobody else can write into memory. */
const lacks = ["busy"];
const turn = turning({ full: fill, "read-only": forbid, damaged: damage });

test("the SQL store keeps the contract", async () => {
  assert.deepEqual(await contract(all, open, { lacks, work, turn }), []);
});

test("a SQL store that does not come to a state is found", async () => {
  for (const leftOut of STATES.filter((state) => !lacks.includes(state))) {
    const ofIt = all.filter(([, { needs }]) => needs?.includes(leftOut));
    assert.equal((await contract(ofIt, open, { lacks, turn: () => {} })).length, ofIt.length, leftOut);
  }
});

/** Goes through its index for each scope. */
class Searching extends SqlStore {
  findText({ tokens }, scopes) {
    return scopes.map(({ owner, until }) => {
      const hits = this.searchText({ tokens, prefix: true }, undefined, ALL);
      return hits.filter((hit) => hit.owner === owner && hit.part <= until).at(-1)?.part;
    });
  }
}

/** Writes a part of what it refuses. */
class Partial extends SqlStore {
  commit(expected, writes, durability) {
    super.commit(expected, [], durability);
    for (const write of writes) super.commit([], [write], durability);
  }
}

for (const [name, Store] of Object.entries({ "cost/find-prefix.json": Searching, "commits/all-or-none.json": Partial })) {
  test(`a SQL store that breaks ${name} is found`, async () => {
    const ofIt = all.filter(([at]) => at === name);
    assert.deepEqual(await contract(ofIt, () => open(), { work }), []);
    assert.equal((await contract(ofIt, () => open(Store), { work })).length, 1);
  });
}

test("numbers beyond those that JavaScript has exactly are not rounded", () => {
  const store = open();
  // The next log and owner have so high a number that their rows are beyond 2^53.
  store.database.run("INSERT INTO logs VALUES (?, 'before')", 2n ** 31n - 3n);
  store.database.run("INSERT INTO owners VALUES (?, 'before')", 2n ** 35n - 3n);
  const append = (log, seq, value) => ({ tag: "append", val: { log, seq, value } });
  const index = (owner, part) => ({ tag: "index-text", val: { owner, part, tokens: "word" } });
  store.commit([], [append("l", 1, "a"), append("l", 2, "b"), index("o", 0), index("o", 2 ** 28 - 1)], "relaxed");
  assert.deepEqual(store.readLog("l", 1, ALL, ALL).entries, [{ seq: 1, value: "a" }, { seq: 2, value: "b" }]);
  const term = { tokens: ["word"], prefix: false };
  assert.deepEqual(store.searchText(term, undefined, ALL), [{ owner: "o", part: 2 ** 28 - 1 }, { owner: "o", part: 0 }]);
  const tooLarge = (write) => assert.throws(() => store.commit([], [write], "relaxed"), { payload: { tag: "too-large", val: undefined } });
  tooLarge(append("m", 1, "c"));
  tooLarge(index("p", 1));
  assert.deepEqual(store.logNames("l", ALL), []);
});

test("bytes that are no text keep nobody from what stands beside them", () => {
  const store = open();
  const writes = [{ tag: "append", val: { log: "l", seq: 1, value: "a" } }, { tag: "put", val: { key: "k", value: "v" } }];
  store.commit([], writes, "relaxed");
  store.database.exec("UPDATE entries SET value = CAST(x'61ff62' AS TEXT)");
  store.database.exec("INSERT INTO records VALUES (CAST(x'ff' AS TEXT), 'nobody''s')");
  assert.deepEqual(store.readLog("l", 0, ALL, ALL).entries, [{ seq: 1, value: "a\ufffdb" }]);
  assert.deepEqual(store.scan("", "\u{10ffff}", false, ALL, ALL).entries.map(({ key }) => key), ["k"]);
});

test("texts come as they were given, whatever characters they have", () => {
  const store = open();
  const values = ["", "\0", "a\0b", "\ufeffa", "\u{1f600}", "'\"\\"];
  store.commit([], values.map((value, at) => ({ tag: "put", val: { key: `${at}`, value } })), "relaxed");
  assert.deepEqual(store.get(values.map((_, at) => `${at}`)), values);
});

test("a term is text and no language", () => {
  const store = open();
  for (const tokens of [['"'], ["a*"], ["x", "OR", "y"], ["tokens:x"], ["^"], ["NEAR("]]) {
    for (const prefix of [false, true]) assert.deepEqual(store.searchText({ tokens, prefix }, undefined, 10), []);
  }
});

test("a word is found behind more texts than are read for it", () => {
  const store = open();
  const text = (part) => ({ tag: "index-text", val: { owner: "o", part, tokens: `word${part} ${"x".repeat(10_000)}` } });
  store.commit([], Array.from({ length: 9 }, (_, part) => text(part)), "relaxed");
  for (const [until, found] of [[7, undefined], [8, 8], [100, 8]]) {
    assert.deepEqual(store.findText({ tokens: ["word8"], prefix: false }, [{ owner: "o", until }]), [found]);
  }
});

test("an error of SQLite's is a value, and a mistake of the caller's is none", () => {
  const store = open();
  const put = (value) => store.commit([], [{ tag: "put", val: { key: "k", value } }], "relaxed");
  store.database.exec("PRAGMA max_page_count = 40");
  assert.throws(() => put("v".repeat(1_000_000)), { payload: { tag: "full", val: undefined } });
  assert.deepEqual(store.get(["k"]), [undefined]);
  store.database.exec("PRAGMA max_page_count = 4000");
  put("v".repeat(1_000_000));
  assert.throws(() => store.commit([], [{ tag: "nothing" }], "relaxed"), TypeError);
  assert.equal(store.get(["k"])[0].length, 1_000_000);
});

test("where there is no private file system, a store in it is refused with the reason", async () => {
  await assert.rejects(openOpfs(), (error) => error instanceof OpenError && error.reason === "no-opfs");
  await assert.rejects(openOpfs("no/name"), TypeError);
});

test("what is waited in a row does not add up, and time restores it", () => {
  const [patience, waits] = [new Patience(10_000, 0), []];
  let now = 0;
  for (const pause of [0, 0, 0, 3000, 60_000]) {
    now += pause;
    waits.push(patience.begin(now));
    now += waits.at(-1);
    patience.end(now, false);
  }
  assert.deepEqual(waits, [10_000, LEAST, LEAST, 3000, 10_000]);
  assert.equal(new Patience(0, now).begin(now), 0);
});

test("who gets on is not refused for having waited often", () => {
  const [patience, waits] = [new Patience(10_000, 0), []];
  let now = 0;
  for (let nth = 0; nth < 5; nth++) {
    waits.push(patience.begin(now));
    now += 4000;
    patience.end(now, true);
  }
  assert.deepEqual(waits, [10_000, 6000, 5000, 5000, 5000]);
  // One that waits in vain has used up what there was.
  now += patience.begin(now);
  patience.end(now, false);
  assert.equal(patience.begin(now), LEAST);
});

test("a commit tells its patience whether it had what it waited for", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const database = new WasmDatabase(sqlite3, new sqlite3.oo1.DB());
  prepare(database, "in memory");
  const [busy, unavailable] = [Object.assign(new Error("locked"), { resultCode: CODES.busy }), "another process kept it locked for too long"];
  let isLocked = false;
  const { run } = database;
  database.run = (sql, ...bindings) => {
    if (sql === "BEGIN IMMEDIATE") now += 4000;
    if (sql === "BEGIN IMMEDIATE" && isLocked) throw busy;
    run.call(database, sql, ...bindings);
  };
  const store = new SqlStore(database, { busyFor: 10_000 });
  const waits = [];
  for (isLocked of [false, false, false, true, false]) {
    if (isLocked) assert.throws(() => store.commit([], [], "relaxed"), { payload: { tag: "unavailable", val: unavailable } });
    else store.commit([], [], "relaxed");
    waits.push(Number([...database.rows("PRAGMA busy_timeout")][0][0]));
  }
  assert.deepEqual(waits, [10_000, 6000, 5000, 5000, LEAST]);
});
