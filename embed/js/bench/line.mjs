// What bindings take and cost: their size, a line that passes through, an update that is recorded. Lines of the workload of
// `cargo xtask bench embeds`, played to one instance.
//
// node bench/line.mjs [FOLDER OF BINDINGS ...]

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

import { fillRandom } from "../src/engine.js";
import { newInstance } from "../src/instance.js";
import { load } from "../src/load.js";
import { MemoryStore } from "../src/memory.js";
import { play } from "./play.js";

const ROUNDS = 7;
const { room, parts } = JSON.parse(await readFile(new URL("../../../bench/workload.json", import.meta.url), "utf8"));

/** A part of the workload, of one session. */
function part(name, also) {
  const line = (message) => JSON.stringify({ jsonrpc: "2.0", ...message }).replaceAll("{n}", "1");
  return { room, lines: parts[name].map(([peer, message]) => [peer, line(message)]), ...also };
}

/** The best of some rounds, in microseconds each time. */
async function best(engine, name, also) {
  const found = [];
  for (let round = 0; round < ROUNDS; round++) found.push((await play(engine, part(name, also))).ms);
  return ((Math.min(...found) * 1000) / also.times).toFixed(1);
}

for (const path of process.argv.length > 2 ? process.argv.slice(2) : ["bindings"]) {
  const folder = pathToFileURL(`${path}/`);
  const code = await readFile(new URL("engine.js", folder));
  const start = performance.now();
  const bindings = await load(folder);
  const compiled = performance.now();
  const { connection } = newInstance(bindings, new MemoryStore(), Date.now, fillRandom);
  const instantiated = performance.now();
  connection.connect([], [], []);
  for (const name of ["initialize", "begin"]) await play(connection, part(name));
  const passes = await best(connection, "pass", { times: 20_000 });
  await play(connection, part("prompt"));
  const recorded = await best(connection, "record", { times: 5_000, idle: 100 });
  console.log(
    `${path}: ${code.length} bytes of JavaScript (${gzipSync(code).length} by gzip), compiled in ${(compiled - start).toFixed(0)} ms, ` +
      `an instance in ${(instantiated - compiled).toFixed(1)} ms, a line that passes ${passes} µs, an update that is recorded ${recorded} µs`,
  );
}
