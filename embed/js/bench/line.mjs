// What bindings take and cost: their size, a line that passes through, an update that is recorded, a load.
//
// node bench/line.mjs [FOLDER OF BINDINGS ...]

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

import { newInstance } from "../src/instance.js";
import { load } from "../src/load.js";
import { MemoryStore } from "../src/memory.js";

const line = (message) => JSON.stringify({ jsonrpc: "2.0", ...message });
const arrival = (peer, message) => [{ peer, content: { tag: "line", val: line(message) } }];
const ROOM = 0xffffffff;

/** The best of some rounds, in microseconds each time. */
function best(times, run) {
  let best = Infinity;
  for (let round = 0; round < 7; round++) {
    const start = process.hrtime.bigint();
    for (let nth = 0; nth < times; nth++) run(nth);
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1000 / times);
  }
  return best;
}

for (const path of process.argv.length > 2 ? process.argv.slice(2) : ["bindings"]) {
  const folder = pathToFileURL(`${path}/`);
  const code = await readFile(new URL("engine.js", folder));
  const start = performance.now();
  const bindings = await load(folder);
  const compiled = performance.now() - start;
  const random = (bytes) => crypto.getRandomValues(bytes);
  const began = performance.now();
  const { connection } = newInstance(bindings, new MemoryStore(), Date.now, random);
  const instantiated = performance.now() - began;
  connection.connect([], [], []);
  const say = (peer, message) => connection.receive(arrival(peer, message), ROOM).outputs;
  say("client", { id: 0, method: "initialize", params: { protocolVersion: 1 } });
  say("agent", { id: 0, result: { protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: "a", version: "1" } } });
  say("client", { id: 1, method: "session/new", params: { cwd: "/home/x", mcpServers: [] } });
  say("agent", { id: 1, result: { sessionId: "s1" } });
  const passed = arrival("client", { method: "_x/y", params: { text: "x".repeat(120) } });
  const perLine = best(20_000, () => connection.receive(passed, ROOM));
  say("client", { id: 2, method: "session/prompt", params: { sessionId: "s1", prompt: [{ type: "text", text: "Go" }] } });
  const content = { type: "text", text: "some words of an answer that goes on " };
  const chunk = { sessionUpdate: "agent_message_chunk", content };
  const told = arrival("agent", { method: "session/update", params: { sessionId: "s1", update: chunk } });
  const perUpdate = best(5_000, (nth) => {
    connection.receive(told, ROOM);
    if (nth % 100 === 0) connection.idle();
  });
  console.log(
    `${path}: ${code.length} bytes of JavaScript (${gzipSync(code).length} by gzip), compiled in ${compiled.toFixed(0)} ms, ` +
      `an instance in ${instantiated.toFixed(1)} ms, a line that passes ${perLine.toFixed(1)} µs, ` +
      `an update that is recorded ${perUpdate.toFixed(1)} µs`,
  );
}
