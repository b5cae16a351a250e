// An engine in this process that is played to, over a store in memory or in the file that is named: node bench/node.js [FILE]

import { MemoryStore, createEngine } from "../src/index.js";
import { answerCommands } from "./commands.js";
import { play } from "./play.js";

const [path] = process.argv.slice(2);

async function openStore() {
  if (!path) return new MemoryStore();
  const { FileStore } = await import("../src/node-sqlite.js");
  return new FileStore(path);
}

const engine = await createEngine({ store: await openStore() });
await answerCommands((part) => play(engine, part));
