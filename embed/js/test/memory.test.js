// The store in memory, beyond what the corpus shows.

import assert from "node:assert/strict";
import { test } from "node:test";

import { MemoryStore, StorageError, createEngine } from "../src/index.js";
import { bytes, compare } from "../src/order.js";

test("names are in the order of their bytes", () => {
  const names = ["a", "ab", "b", "é", "\uE000", "\uFFFD", "\u{10000}", "\u{1F600}"];
  const shuffled = [...names].reverse();
  assert.deepEqual(shuffled.sort(compare), names);
  for (const name of names) assert.equal(bytes(name), Buffer.byteLength(name));
});

/** Texts of some hundred owners, and what a search that reads them all finds. */
function filled() {
  const store = new MemoryStore();
  const words = ["parse", "parser", "par", "plant", "poem", "number", "numbers", "one", "two"];
  const texts = [];
  for (let nth = 0; nth < 300; nth++) {
    const tokens = Array.from({ length: 1 + (nth % 7) }, (_, at) => words[(nth * 7 + at * at * 3) % words.length]);
    texts.push({ owner: `o${nth % 40}`, part: nth % 9, tokens: tokens.join(" ") });
  }
  const write = (val) => ({ tag: "index-text", val });
  store.commit([], texts.map(write), "relaxed");
  store.commit([], [{ tag: "drop-text", val: { owner: "o7", start: 3 } }, write({ owner: "o8", part: 8, tokens: "" })], "relaxed");
  return { store, words };
}

function found(store, term) {
  const text = ({ tokens }) => ` ${tokens} `;
  const sought = ` ${term.tokens.join(" ")}${term.prefix ? "" : " "}`;
  const owners = store.textOwners(undefined, 1000);
  const all = owners.flatMap((owner) => store.readTexts(owner, 0, 1000, 1 << 30).texts);
  return all.filter((one) => text(one).includes(sought)).map(({ owner, part }) => ({ owner, part }));
}

test("the index finds what reading everything finds", () => {
  const { store, words } = filled();
  const terms = words.flatMap((word) => [
    { tokens: [word], prefix: false },
    { tokens: [word.slice(0, 2)], prefix: true },
    { tokens: [word, "p"], prefix: true },
    { tokens: [word, "number"], prefix: false },
  ]);
  let hits = 0;
  for (const term of terms) {
    const wanted = found(store, term);
    hits += wanted.length;
    const order = (a, b) => compare(b.owner, a.owner) || b.part - a.part;
    const all = store.searchText(term, undefined, 1000);
    assert.deepEqual(all, [...wanted].sort(order), JSON.stringify(term));
    if (all.length > 2) assert.deepEqual(store.searchText(term, all[1], 5), all.slice(2, 7));
    const scopes = store.textOwners(undefined, 1000).map((owner) => ({ owner, until: 5 }));
    const firsts = scopes.map(({ owner, until }) => {
      const parts = wanted.filter((hit) => hit.owner === owner && hit.part <= until).map(({ part }) => part);
      return parts.length > 0 ? Math.min(...parts) : undefined;
    });
    assert.deepEqual(store.findText(term, scopes), firsts, JSON.stringify(term));
  }
  assert.ok(hits > 500, `${hits} hits`);
});

test("a commit is all or nothing", () => {
  const store = new MemoryStore();
  const append = (seq) => ({ tag: "append", val: { log: "l", seq, value: `${seq}` } });
  const put = { tag: "put", val: { key: "k", value: "v" } };
  const conflicts = (expected, writes) => {
    assert.throws(() => store.commit(expected, writes, "durable"), (error) => {
      return error instanceof StorageError && error.payload.tag === "conflict";
    });
  };
  store.commit([], [append(1), append(2)], "durable");
  conflicts([], [put, append(4)]);
  conflicts([{ key: "k", value: "v" }], [put]);
  conflicts([], [put, { tag: "amend", val: { log: "l", seq: 1, value: "x" } }]);
  assert.deepEqual(store.get(["k"]), [undefined]);
  store.commit([{ key: "k", value: undefined }], [put, { tag: "cut-log", val: { log: "l", start: 2 } }, append(2)], "durable");
  assert.deepEqual([store.get(["k"]), store.logEnd("l")], [["v"], 2]);
});

test("a text that begins with U+FEFF keeps it on its way through the engine", async () => {
  const store = new MemoryStore();
  const engine = await createEngine({ store });
  store.commit([], [{ tag: "append", val: { log: "\uFEFFl", seq: 1, value: "x" } }], "durable");
  const names = [];
  const asked = store.readLog.bind(store);
  store.readLog = (log, ...args) => (names.push(log), asked(log, ...args));
  let cursor;
  for (let nth = 0; nth < 20 && (nth === 0 || cursor !== undefined); nth++) {
    cursor = engine.sessions.checkStore("nothing", cursor, 256).nextCursor;
  }
  assert.equal(cursor, undefined);
  assert.ok(!names.includes("l"), JSON.stringify(names));
});
