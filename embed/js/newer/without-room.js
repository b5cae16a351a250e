// `node without-room.js STORE`: says what becomes of a store that is opened where files may not grow, which is to SQLite what a full disk is,
// and what when they may again.

import { execFileSync } from "node:child_process";

import { FileStore } from "acp-sessions/node-sqlite";

let now = 0;
performance.now = () => now;
const room = (size) => execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${size}:`]);
const write = (store) => store.commit([], [{ tag: "put", val: { key: "k", value: "after" } }], "durable");

room(0);
const store = new FileStore(process.argv[2]);
const [before] = store.get(["k"]);
let said;
try {
  write(store);
} catch (error) {
  said = error.payload.tag;
}
room("unlimited");
now += 1000;
write(store);
console.log(before, said, ...store.get(["k"]));
store.close();
