// The store in a file: refused where Node's SQLite will not do, and tried by a newer Node, which comes from the registry for its tests (`newer/`).

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { newerNode } from "../newer/where.js";
import { FileStore, OpenError } from "../src/node-sqlite.js";
import { library } from "../src/sqlite/node/database.js";

const folder = new URL("../newer/", import.meta.url);

function reasonOf(run) {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof OpenError, error.stack);
    return [error.reason, error.message];
  }
  return [];
}

test("an older SQLite is refused with the reason", () => {
  const found = { DatabaseSync: class {} };
  for (const sqlite of ["3.51.2", "3.9.0", "3.50.10"]) {
    const [reason, message] = reasonOf(() => library(found, { node: "22.20.0", sqlite }));
    assert.equal(reason, "old-sqlite");
    assert.ok(message.startsWith(`Node 22.20.0 has SQLite ${sqlite}; 3.51.3 or newer is needed`), message);
  }
  for (const sqlite of ["3.51.3", "3.53.4", "4.0.0"]) assert.equal(library(found, { node: "24.21.0", sqlite }), found);
});

test("a Node without node:sqlite is refused with the reason, and nothing is made", () => {
  const [reason, message] = reasonOf(() => library(null, { node: "20.20.2" }));
  assert.equal(reason, "no-sqlite");
  assert.match(message, /^Node 20.20.2 has no node:sqlite; one with SQLite 3.51.3 or newer is needed/);
  const path = join(tmpdir(), `acp-sessions-${process.pid}`, "sessions.db");
  if (process.getBuiltinModule?.("node:sqlite")) return;
  assert.equal(reasonOf(() => new FileStore(path))[0], "no-sqlite");
  assert.ok(!existsSync(join(path, "..")));
});

for (const name of ["contract", "readme", "shared", "store"]) {
  test(`by a newer Node: ${name}`, async () => {
    // The newer one is no part of this run.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const line = ["--test", "--test-reporter=tap", "--test-timeout=180000", fileURLToPath(new URL(`${name}.js`, folder))];
    const child = spawn(newerNode(), line, { env, stdio: ["ignore", "pipe", "inherit"] });
    const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
    assert.equal(code, 0, said);
    const count = (what) => Number(new RegExp(`^# ${what} (\\d+)$`, "m").exec(said)[1]);
    assert.ok(count("pass") > 0, said);
    assert.deepEqual([count("skipped"), count("todo")], [0, 0], said);
  });
}

test("there is no other file of tests for it", () => {
  const rest = ["as-nobody", "count-up", "folders", "program", "turns", "where", "without-room"];
  const tests = ["contract", "readme", "shared", "store"];
  const found = readdirSync(folder).filter((name) => name.endsWith(".js")).map((name) => name.slice(0, -3));
  assert.deepEqual(found.sort(), [...rest, ...tests].sort());
});
