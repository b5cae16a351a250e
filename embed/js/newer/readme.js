// The example of the README for the store in a file runs as it stands.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { FileStore } from "acp-sessions/node-sqlite";

import { folder } from "./folders.js";
import { Turns } from "./turns.js";

test("the example of the README for a store in a file runs as it stands", async (t) => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [, example] = /\*\*A store in a file[^]*?```js\n([^]*?)```/.exec(readme);
  const within = folder(t);
  mkdirSync(join(within, "node_modules"));
  symlinkSync(fileURLToPath(new URL("..", import.meta.url)), join(within, "node_modules", "acp-sessions"));
  const run = () => execFileSync(process.execPath, ["--input-type=module", "--eval", example], { cwd: within, encoding: "utf8" });
  assert.equal(run(), "");
  const store = new FileStore(join(within, "sessions.db"));
  const turns = await Turns.begin(store, "session");
  turns.prompt(turns.new(), "What is said first");
  store.close();
  assert.equal(run(), "session-1 What is said first\n");
});
