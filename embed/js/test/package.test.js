// What comes with the package when it is installed.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const of = async (path) => JSON.parse(await readFile(new URL(path, import.meta.url), "utf8"));
const leastNode = ({ engines }) => Number(/^>=(\d+)$/.exec(engines.node)[1]);

test("nothing is installed with the package that wants a newer Node than it does", async () => {
  const own = await of("../package.json");
  for (const name of Object.keys(own.dependencies ?? {})) {
    const asked = leastNode(await of(`../node_modules/${name}/package.json`));
    assert.ok(asked <= leastNode(own), `${name} wants Node ${asked}`);
  }
});

test("what a store in the browser needs is named, in the version that it is tried with, and is installed by whoever has one", async () => {
  const { peerDependencies, peerDependenciesMeta, devDependencies } = await of("../package.json");
  const [[name, version]] = Object.entries(peerDependencies);
  assert.deepEqual([devDependencies[name], peerDependenciesMeta[name]], [version, { optional: true }]);
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  assert.ok(readme.includes(`npm install ${name}@${version}`));
});
