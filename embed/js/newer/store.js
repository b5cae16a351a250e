// The store in a file: what is refused, whose rights count, and each of its errors.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { StorageError } from "acp-sessions";
import { FileStore, OpenError } from "acp-sessions/node-sqlite";

import { folder } from "./folders.js";
import * as program from "./program.js";

const ALL = 0xffffffff;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const put = (key, value) => ({ tag: "put", val: { key, value } });
const append = (log, seq, value) => ({ tag: "append", val: { log, seq, value } });
const placeFor = (test) => join(folder(test), "sessions.db");

/** Opens a store for as long as a test lasts. */
function open(test, path, options) {
  const store = new FileStore(path, options);
  test.after(() => store.close());
  return store;
}

/** Does something with a store, and closes it. */
function within(path, use = () => {}) {
  const store = new FileStore(path);
  try {
    return use(store);
  } finally {
    store.close();
  }
}

function refused(path) {
  try {
    within(path);
  } catch (error) {
    assert.ok(error instanceof OpenError, error.stack);
    return error;
  }
  assert.fail(`${path} was opened`);
}

function told(run) {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof StorageError, error.stack);
    return error.payload;
  }
  assert.fail("it did what it was asked");
}

/** Somebody else's database at this place, with this in it. */
function foreign(path, ...statements) {
  const database = new DatabaseSync(path);
  for (const statement of statements) database.exec(statement);
  return database;
}
const NOTES = ["PRAGMA journal_mode = WAL", "CREATE TABLE notes (note TEXT)"];

/** The file and its journal as they are by now. Another process copies them: this one would drop its locks. */
function copied(path, name) {
  const to = join(path, "..", name);
  fs.mkdirSync(to);
  execFileSync("cp", [path, `${path}-wal`, to]);
  return join(to, "sessions.db");
}

/** All files beside this one, by name. */
function filesBeside(path) {
  const folder = join(path, "..");
  return Object.fromEntries(fs.readdirSync(folder).map((name) => [name, fs.readFileSync(join(folder, name))]));
}

/** What a store's file is made of, as SQLite says it. */
function inside(path) {
  return within(path, ({ database }) => {
    const rows = (sql) => [...database.rows(sql)];
    const pragmas = ["application_id", "user_version", "journal_mode", "page_size", "encoding", "auto_vacuum"];
    const objects = rows("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name");
    return [objects, rows("SELECT * FROM texts_config ORDER BY k"), pragmas.map((name) => rows(`PRAGMA ${name}`))];
  });
}

test("it makes the file that the program makes", async (t) => {
  const path = placeFor(t);
  const theirs = join(path, "..", "theirs.db");
  const agent = await program.Agent.begin(t, theirs);
  await agent.new();
  await agent.end();
  assert.deepEqual(inside(path), inside(theirs));
});

test("what was written is there when it is opened again", (t) => {
  const path = placeFor(t);
  within(path, (store) => store.commit([], [put("k", "v"), append("l", 1, "\ufeffe\0\u{1f600}")], "durable"));
  within(path, (store) => {
    assert.deepEqual(store.get(["k", "m"]), ["v", undefined]);
    assert.deepEqual(store.readLog("l", 0, ALL, ALL).entries, [{ seq: 1, value: "\ufeffe\0\u{1f600}" }]);
  });
});

test("a path may have any characters, and be relative", (t) => {
  const path = join(folder(t), "a?b#c%20 d", "sess\u00efons.db");
  within(path, (store) => store.commit([], [put("k", "v")], "relaxed"));
  assert.deepEqual(fs.readdirSync(join(path, "..")), ["sess\u00efons.db"]);
  const before = process.cwd();
  process.chdir(join(path, ".."));
  t.after(() => process.chdir(before));
  const store = open(t, "sess\u00efons.db");
  process.chdir(before);
  store.commit([{ key: "k", value: "v" }], [put("k", "w")], "relaxed");
});

test("a path may begin with the home folder, as for the program", (t) => {
  const [top, before, { HOME }] = [folder(t), process.cwd(), process.env];
  t.after(() => {
    process.chdir(before);
    process.env.HOME = HOME;
  });
  process.chdir(top);
  process.env.HOME = join(top, "home");
  for (const path of ["~/a/sessions.db", "~//sessions.db", "~other/sessions.db", "~"]) within(path);
  const made = fs.readdirSync(top, { recursive: true, withFileTypes: true }).filter((found) => found.isFile());
  const paths = made.map(({ parentPath, name }) => join(parentPath, name).slice(top.length + 1));
  assert.deepEqual(paths.sort(), ["home/a/sessions.db", "home/sessions.db", "~", "~other/sessions.db"].sort());
});

test("only its owner has rights on it", (t) => {
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const [rights, top] = [(path) => fs.statSync(path).mode & 0o777, folder(t)];
  const path = join(top, "a", "b", "sessions.db");
  within(path, (store) => {
    store.commit([], [put("k", "v")], "relaxed");
    const made = fs.readdirSync(join(path, "..")).map((name) => [name, rights(join(path, "..", name))]);
    assert.deepEqual(made, [["sessions.db", 0o600], ["sessions.db-shm", 0o600], ["sessions.db-wal", 0o600]]);
  });
  assert.deepEqual([rights(join(top, "a")), rights(join(top, "a", "b"))], [0o700, 0o700]);
  fs.chmodSync(path, 0o664);
  within(path);
  assert.equal(rights(path), 0o600);
});

test("what is no store is refused and stays as it is", (t) => {
  const path = placeFor(t);
  const other = foreign(path, ...NOTES);
  const before = filesBeside(copied(path, "before"));
  assert.equal(refused(path).reason, "foreign");
  assert.deepEqual(filesBeside(copied(path, "after")), before);
  other.close();
  const marked = join(path, "..", "marked.db");
  foreign(marked, "PRAGMA application_id = 1").close();
  for (const content of [fs.readFileSync(path), fs.readFileSync(marked), "no database\n".repeat(100), "x"]) {
    fs.writeFileSync(path, content);
    assert.equal(refused(path).reason, "foreign");
    assert.deepEqual(fs.readFileSync(path), Buffer.from(content));
  }
  assert.equal(refused(join(path, "..")).reason, "no-file");
  assert.equal(refused(join(here("store.js"), "sessions.db")).reason, "create");
});

test("a store that a crash has left with its journal is taken up", (t) => {
  const path = placeFor(t);
  const store = open(t, path);
  store.commit([], [put("k", "v")], "durable");
  const left = copied(path, "left");
  within(left, (again) => assert.deepEqual(again.get(["k"]), ["v"]));
});

test("a database of others that a crash has left is refused", (t) => {
  const path = placeFor(t);
  const other = foreign(path, ...NOTES);
  const left = copied(path, "left");
  other.close();
  const before = filesBeside(left);
  assert.deepEqual(Object.keys(before), ["sessions.db", "sessions.db-wal"]);
  assert.equal(refused(left).reason, "foreign");
  assert.deepEqual(filesBeside(left), before);
});

test("a store of a later version is refused", (t) => {
  const path = placeFor(t);
  within(path, ({ database }) => database.exec("PRAGMA user_version = 99"));
  const error = refused(path);
  assert.equal(error.reason, "too-new");
  assert.match(error.message, /format 99, this package knows formats up to 4/);
});

test("nothing is written any more once a later version has changed the format", (t) => {
  const path = placeFor(t);
  const store = open(t, path);
  store.commit([], [put("k", "v")], "relaxed");
  within(path, ({ database }) => database.exec("PRAGMA user_version = 99"));
  const error = told(() => store.commit([], [put("k", "w")], "relaxed"));
  const val = "the store has format 99 by now, this package knows formats up to 4: use a newer acp-sessions";
  assert.deepEqual(error, { tag: "unavailable", val });
  assert.deepEqual(store.get(["k"]), ["v"]);
});

test("a store of an earlier version is brought up to date", (t) => {
  const path = placeFor(t);
  within(path, (store) => {
    store.commit([], [put("k", "v")], "durable");
    store.database.exec("DROP TABLE cleaning; PRAGMA user_version = 3; PRAGMA application_id = 0");
  });
  assert.deepEqual(inside(path), inside(join(path, "..", "new.db")));
  within(path, (store) => assert.deepEqual(store.get(["k"]), ["v"]));
});

test("processes that count at once lose nothing", async (t) => {
  const path = placeFor(t);
  const counting = Array.from({ length: 3 }, () => spawn(process.execPath, [here("count-up.js"), path, "300"], { stdio: "inherit" }));
  t.after(() => counting.forEach((child) => child.kill("SIGKILL")));
  const codes = await Promise.all(counting.map(async (child) => (await once(child, "exit"))[0]));
  assert.deepEqual(codes, [0, 0, 0]);
  assert.deepEqual(open(t, path).get(["count"]), ["900"]);
});

test("a store that stays locked is unavailable and can be read", (t) => {
  const path = placeFor(t);
  const [store, other] = [open(t, path, { busyFor: 50 }), open(t, path)];
  store.commit([], [put("k", "v")], "relaxed");
  other.database.exec("BEGIN IMMEDIATE");
  const error = told(() => store.commit([], [put("k", "w")], "relaxed"));
  assert.deepEqual(error, { tag: "unavailable", val: "another process kept it locked for too long" });
  assert.deepEqual(store.get(["k"]), ["v"]);
  other.database.exec("ROLLBACK");
  store.commit([], [put("k", "w")], "relaxed");
  assert.deepEqual(store.get(["k"]), ["w"]);
});

test("a full store says so and goes on when there is room", (t) => {
  const store = open(t, placeFor(t));
  const [[pages]] = store.database.rows("PRAGMA page_count");
  store.database.exec(`PRAGMA max_page_count = ${pages + 10n}`);
  assert.equal(told(() => store.commit([], [put("k", "v".repeat(100_000))], "relaxed")).tag, "full");
  assert.deepEqual(store.get(["k"]), [undefined]);
  store.database.exec(`PRAGMA max_page_count = ${pages + 100n}`);
  store.commit([], [put("k", "v".repeat(100_000))], "relaxed");
});

test("a store that cannot be written is read", (t) => {
  const path = placeFor(t);
  within(path, (store) => store.commit([], [put("k", "before")], "relaxed"));
  const [top, empty] = [join(path, ".."), join(path, "..", "empty.db")];
  fs.writeFileSync(empty, "");
  const isRoot = process.geteuid() === 0;
  for (const file of [path, empty]) fs.chmodSync(file, isRoot ? 0o444 : 0o400);
  fs.chmodSync(top, isRoot ? 0o555 : 0o500);
  const asNobody = (file) => execFileSync(process.execPath, [here("as-nobody.js"), file], { encoding: "utf8" }).trim();
  try {
    assert.equal(asNobody(path), "before read-only");
    assert.equal(asNobody(empty), "empty-read-only");
  } finally {
    fs.chmodSync(top, 0o700);
  }
});

test("a store is read where there is no room, and written as soon as there is", (t) => {
  const path = placeFor(t);
  within(path, (store) => store.commit([], [put("k", "before")], "relaxed"));
  assert.equal(execFileSync(process.execPath, [here("without-room.js"), path], { encoding: "utf8" }).trim(), "before read-only after");
  assert.deepEqual(within(path, (store) => store.get(["k"])), ["after"]);
});

test("a damaged store says so and is not made worse", (t) => {
  const path = placeFor(t);
  const page = within(path, (store) => {
    store.commit([], Array.from({ length: 100 }, (_, nth) => put(`k${nth}`, "v".repeat(1000))), "relaxed");
    const [[root]] = store.database.rows("SELECT rootpage FROM sqlite_master WHERE name = 'records'");
    return Number(root);
  });
  const content = fs.readFileSync(path).fill(0xff, (page - 1) * 4096, page * 4096);
  fs.writeFileSync(path, content);
  const store = open(t, path);
  assert.equal(told(() => store.scan("", "\x80", false, ALL, ALL)).tag, "corrupt");
  assert.equal(told(() => store.commit([], [put("k", "v")], "relaxed")).tag, "corrupt");
  assert.deepEqual(store.logNames(undefined, ALL), []);
});

test("what failed once does not fail again when it can be done", (t) => {
  const { database } = open(t, placeFor(t));
  database.exec("CREATE TEMP TABLE numbers (number INTEGER); INSERT INTO numbers VALUES (-9223372036854775808)");
  const read = () => [...database.rows("SELECT abs(number) FROM numbers")];
  assert.throws(read, /overflow/);
  database.exec("UPDATE numbers SET number = -1");
  assert.deepEqual(read(), [[1n]]);
});

test("rows that are out of order in the file do not lead round in circles", (t) => {
  const path = placeFor(t);
  within(path, (store) => store.commit([], [0, 1, 2].map((nth) => append(`name-${nth}`, 1, "")), "relaxed"));
  const content = fs.readFileSync(path);
  // In the index of the names alone: the table's own rows have what stands before a name apart.
  const found = [...content.keys()].filter((at) => content.subarray(at, at + 7).equals(Buffer.from("name-1\x02")));
  assert.equal(found.length, 1);
  content.write("nama-1", found[0]);
  fs.writeFileSync(path, content);
  assert.equal(told(() => open(t, path).logNames(undefined, ALL)).tag, "corrupt");
});

test("a store whose file was taken away writes no more", (t) => {
  const path = placeFor(t);
  const store = open(t, path);
  fs.renameSync(path, join(path, "..", "elsewhere.db"));
  const error = told(() => store.commit([], [put("k", "v")], "relaxed"));
  assert.deepEqual(error, { tag: "unavailable", val: "the store's file was removed or replaced" });
  within(path);
  assert.equal(told(() => store.commit([], [put("k", "v")], "relaxed")).tag, "unavailable");
});

test("cleaning is not done while another reads the journal", (t) => {
  const path = placeFor(t);
  const [store, other] = [open(t, path, { busyFor: 50 }), open(t, path)];
  store.commit([], [put("k", "v"), { tag: "cut-log", val: { log: "l", start: 1 } }], "relaxed");
  other.database.exec("BEGIN");
  assert.equal(other.scan("", "z", false, 1, 1).entries[0].key, "k");
  assert.equal(store.clean(), false);
  other.database.exec("ROLLBACK");
  assert.equal(store.clean(), true);
});

test("what was closed is no store any more, which loses the instance", (t) => {
  const store = new FileStore(placeFor(t));
  store.close();
  assert.throws(() => store.get(["k"]), (error) => !(error instanceof StorageError));
});
