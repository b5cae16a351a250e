// The types are those that the package has: what somebody writes with them compiles, and what they refuse does not.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

test("what embeds the engine in TypeScript compiles", () => {
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const project = fileURLToPath(new URL("types", import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [tsc, "--project", project], { encoding: "utf8" });
  assert.equal(stdout, "");
  assert.equal(status, 0);
});
