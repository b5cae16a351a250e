// `node as-nobody.js STORE`: says what becomes of the store of somebody whom the system refuses what it refuses others.

import { FileStore } from "acp-sessions/node-sqlite";

if (process.geteuid() === 0) {
  process.setgroups([]);
  process.setgid(65534);
  process.setuid(65534);
}
try {
  const store = new FileStore(process.argv[2]);
  const [before] = store.get(["k"]);
  try {
    store.commit([], [{ tag: "put", val: { key: "k", value: "after" } }], "durable");
  } catch (error) {
    console.log(before, error.payload.tag);
  }
} catch (error) {
  console.log(error.reason);
}
