// The conformance corpus, by the component over the store in memory.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { test } from "node:test";

import { load } from "../src/load.js";
import { MemoryStore } from "../src/memory.js";
import { play } from "./player.js";

const folder = new URL("../../../tests/corpus/", import.meta.url);
const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".json")).sort();
const bindings = await load();

test("the corpus is there", () => assert.ok(names.length > 100, `${names.length} cases`));

for (const name of names) {
  test(name, async () => {
    const wanted = JSON.parse(await readFile(new URL(name, folder), "utf8"));
    const played = play(bindings, new MemoryStore(), wanted);
    for (const [nth, step] of wanted.steps.entries()) assert.deepEqual(played.steps[nth], step, `step ${nth}`);
    assert.deepEqual(played.end, wanted.end);
  });
}
