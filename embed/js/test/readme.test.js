// The first example of the README runs as it stands.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { promisify } from "node:util";

test("the first example of the README runs as it stands", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const [, example] = /```js\n([^]*?)```/.exec(readme);
  // In this folder the package's own name leads to it.
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", example], { cwd });
  const lines = (await run).stdout.trim().split("\n");
  const answer = JSON.parse(lines.at(-1).slice("to-client ".length));
  assert.deepEqual([answer.id, answer.result.sessions], [1, []]);
});
