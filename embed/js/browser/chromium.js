// The package in Chromium, with the engine as it is built for the web: the conformance corpus over the store in memory, the first example
// of the README, and a conversation by the official SDK.
//
// CHROMIUM says where it is, if it is not where Debian has it.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { after, before, test } from "node:test";

import { chromium } from "playwright-core";

import { serve } from "./server.js";

const folder = new URL("../../../tests/corpus/", import.meta.url);
const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".json")).sort();
let server;
let browser;
let page;

before(async () => {
  server = await serve();
  // Its sandbox does not work for root.
  const chromiumSandbox = process.getuid() !== 0;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", chromiumSandbox });
  page = await browser.newPage();
  await page.goto(server.url);
});

after(async () => {
  await browser?.close();
  server?.end();
});

test("the corpus is there", () => assert.ok(names.length > 100, `${names.length} cases`));

for (const name of names) {
  test(name, async () => {
    const wanted = JSON.parse(await readFile(new URL(name, folder), "utf8"));
    const played = JSON.parse(await page.evaluate(async (name) => (await import("/browser/page.js")).played(name), name));
    for (const [nth, step] of wanted.steps.entries()) assert.deepEqual(played.steps[nth], step, `step ${nth}`);
    assert.deepEqual(played.end, wanted.end);
  });
}

test("the first example of the README runs as it stands", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const [, example] = /```js\n([^]*?)```/.exec(readme);
  const lines = [];
  const hears = (message) => lines.push(message.text());
  page.on("console", hears);
  await page.evaluate(async (example) => {
    const url = URL.createObjectURL(new Blob([example], { type: "text/javascript" }));
    await import(url);
  }, example);
  page.off("console", hears);
  const answer = JSON.parse(lines.at(-1).slice("to-client ".length));
  assert.deepEqual([answer.id, answer.result.sessions], [1, []]);
});

test("the official SDK has a conversation through the layer", async () => {
  const { said, loaded } = await page.evaluate(async () => (await import("/browser/page.js")).conversation());
  assert.deepEqual([said.found.stopReason, said.found.text, said.by], ["end_turn", "In a browser ", "client"]);
  assert.deepEqual(loaded, { found: { sessionId: said.found.sessionId, text: said.found.text }, by: "client" });
});

test("the engine was the one for the web", () => {
  const modules = server.asked.filter((path) => path.endsWith("core.wasm"));
  assert.deepEqual([...new Set(modules)], ["/bindings/web/engine.core.wasm"]);
});
