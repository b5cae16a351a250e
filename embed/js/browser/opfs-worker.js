// Plays the cases of the contract and of the corpus with a store in the origin's private file system, each with an empty one.

import { load } from "../src/load-web.js";
import { openPool, storeIn } from "../src/opfs/open.js";
import { contract } from "../test/contract.js";
import { fill, forbid, turning } from "../test/states.js";
import { play } from "../test/player.js";

const LIBRARY = "/node_modules/@sqlite.org/sqlite-wasm/dist/index.mjs";
const [files, bindings] = await Promise.all([openPool("cases", LIBRARY), load()]);
let [store, count] = [undefined, 0];

/** An empty store in the place of the one before. */
function empty() {
  if (store) {
    store.close();
    files.pool.unlink(`/${count}.db`);
  }
  return (store = storeIn(files, `/${++count}.db`, "cases"));
}

const DO = {
  /** An empty store. */
  begin: () => empty() !== undefined,
  /** Nobody else can write, nor damage what is open. */
  contract: (cases) => contract(cases, empty, { lacks: ["busy", "damaged"], turn: turning({ full: fill, "read-only": forbid }) }),
  play: (wanted) => play(bindings, empty(), wanted),
  /** Whether a word is in the files of a store before it was removed, behind that, and when the file has been cleaned, which succeeds. */
  secret(word) {
    empty();
    const held = () => {
      const names = files.pool.getFileNames().filter((name) => name.startsWith(`/${count}.db`));
      const texts = names.map((name) => new TextDecoder("latin1").decode(files.pool.exportFile(name)));
      return texts.some((text) => text.includes(word));
    };
    const write = (tag, val) => store.commit([], [{ tag, val }], "durable");
    for (let seq = 1; seq < 100; seq++) write("append", { log: "l", seq, value: `${word} ${seq}` });
    write("index-text", { owner: "l", part: 0, tokens: word });
    const found = [held()];
    write("cut-log", { log: "l", start: 1 });
    write("drop-text", { owner: "l", start: 0 });
    found.push(held());
    return [...found, store.clean(), held()];
  },
  /** The file of the store of this name, which nobody has open, as a text with a character for each byte. */
  async exported(name) {
    const left = await openPool(name, LIBRARY);
    storeIn(left, "/sessions.db", name).close();
    const content = left.pool.exportFile("/sessions.db");
    left.pool.pauseVfs();
    return Array.from(content, (byte) => String.fromCharCode(byte)).join("");
  },
  /** Leaves a store of this name with something done to its file, in nobody's hands. */
  async spoil({ name, sql }) {
    const left = await openPool(name, LIBRARY);
    const spoilt = storeIn(left, "/sessions.db", name);
    spoilt.database.exec(sql);
    spoilt.close();
    left.pool.pauseVfs();
    return true;
  },
  /** Writes so much, and says what the store answers. */
  write(length) {
    try {
      store.commit([], [{ tag: "put", val: { key: "k", value: "v".repeat(length) } }], "durable");
      return store.get(["k"])[0].length;
    } catch (error) {
      return [error.payload, store.get(["k"])[0].length];
    }
  },
  /** What SQLite says of the store that was used last. */
  pragma: (name) => String([...store.database.rows(`PRAGMA ${name}`)][0][0]),
};

addEventListener("message", async ({ data: { what, given } }) => {
  try {
    postMessage({ done: JSON.stringify(await DO[what](given)) });
  } catch (error) {
    postMessage({ failed: String(error?.stack ?? error) });
  }
});
postMessage("ready");
