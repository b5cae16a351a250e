// `node count-up.js STORE TIMES`: counts a record up so many times, beside others that do the same.

import { FileStore } from "acp-sessions/node-sqlite";

const store = new FileStore(process.argv[2]);
for (let left = Number(process.argv[3]); left > 0; ) {
  const [before] = store.get(["count"]);
  try {
    const put = { tag: "put", val: { key: "count", value: String(Number(before ?? 0) + 1) } };
    store.commit([{ key: "count", value: before }], [put], "relaxed");
    left--;
  } catch (error) {
    if (error.payload?.tag !== "conflict") throw error;
  }
}
store.close();
