// The store in memory keeps the contract of storages, and stores that do not are found.

import assert from "node:assert/strict";
import { Session } from "node:inspector";
import { test } from "node:test";

import { MemoryStore, StorageError } from "../src/index.js";
import { cases } from "./cases.js";
import { contract } from "./contract.js";

const all = await cases();

const session = new Session();
session.connect();
session.post("Profiler.enable");
// From now on nothing is optimised, which would not be counted.
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

/** How often the pieces of code were run since this was asked last. */
function executed() {
  let count = 0;
  session.post("Profiler.takePreciseCoverage", (_, { result }) => {
    for (const { functions } of result) for (const { ranges } of functions) for (const range of ranges) count += range.count;
  });
  return count;
}

function work(_, run) {
  executed();
  run();
  return executed();
}

test("there are cases of everything", () => {
  const folders = new Set(all.map(([name]) => name.split("/")[0]));
  assert.deepEqual([...folders].sort(), ["commits", "cost", "logs", "names", "records", "sizes", "states", "texts"]);
});

test("the store in memory keeps the contract", async () => {
  assert.deepEqual(await contract(all, () => new MemoryStore(), { work }), []);
});

/** Without texts, and with little room. */
class Plain extends MemoryStore {
  commit(expected, writes, durability) {
    const isLong = ({ val }) => (val.value?.length ?? 0) > 1 << 20;
    if (writes.some(isLong)) throw new StorageError("too-large");
    if (writes.some(({ tag }) => tag === "restore")) throw new StorageError("unsupported");
    super.commit(expected, writes.filter(({ tag }) => !tag.endsWith("-text")), durability);
  }
}
for (const name of ["searchText", "findText", "textOwners", "readTexts"]) {
  Plain.prototype[name] = () => {
    throw new StorageError("unsupported");
  };
}

test("a store that does less keeps it where it says so", async () => {
  const lacks = ["text-search", "restore", "large-values"];
  assert.deepEqual(await contract(all, () => new Plain(), { lacks, work }), []);
  assert.ok((await contract(all, () => new Plain())).length > 10);
});

/** Stores that break one promise each, and what finds it. */
const broken = {
  "goes through its index for each scope": [
    /^cost\/find-word/,
    class extends MemoryStore {
      findText(term, scopes) {
        return scopes.map(({ owner, until }) => {
          const parts = this.searchText(term, undefined, 0xffffffff).filter((hit) => hit.owner === owner && hit.part <= until);
          return parts.at(-1)?.part;
        });
      }
    },
  ],
  "reads the whole range for a page": [
    /^cost\/scan/,
    class extends MemoryStore {
      scan(start, end, descending, limit, maxBytes) {
        const records = super.scan("", "\x80", descending, 0xffffffff, 0xffffffff).entries;
        const entries = records.filter(({ key }) => start <= key && key < end);
        const page = super.scan(start, end, descending, limit, maxBytes);
        return { entries: entries.slice(0, page.entries.length), more: page.more };
      }
    },
  ],
  "does not say that there is more": [
    /^records\/scan/,
    class extends MemoryStore {
      scan(...args) {
        return { ...super.scan(...args), more: false };
      }
    },
  ],
  "counts units for bytes": [
    /^records\/scan-bytes/,
    class extends MemoryStore {
      scan(start, end, descending, limit, maxBytes) {
        const page = super.scan(start, end, descending, limit, 0xffffffff);
        let held = 0;
        const fits = ({ key, value }, at) => (held += key.length + value.length) <= maxBytes || at === 0;
        const entries = page.entries.filter(fits);
        return { entries, more: page.more || entries.length < page.entries.length };
      }
    },
  ],
  "writes a part of what it refuses": [
    /^commits\/all-or-none/,
    class extends MemoryStore {
      commit(expected, writes, durability) {
        super.commit(expected, [], durability);
        for (const write of writes) super.commit([], [write], durability);
      }
    },
  ],
  "looks at expectations behind the writes": [
    /^commits\/expect/,
    class extends MemoryStore {
      commit(expected, writes, durability) {
        super.commit([], writes, durability);
        super.commit(expected, [], durability);
      }
    },
  ],
  "orders names by units": [
    /^logs\/names/,
    class extends MemoryStore {
      logNames(after, limit) {
        const names = super.logNames(undefined, 0xffffffff).sort();
        return names.filter((name) => after === undefined || name > after).slice(0, limit);
      }
    },
  ],
};

for (const [what, [where, Broken]] of Object.entries(broken)) {
  test(`a store is found that ${what}`, async () => {
    const found = await contract(all, () => new Broken(), { work });
    assert.ok(found.some((text) => where.test(text)), found.join("\n"));
  });
}

/** Says what its state makes it say. */
class Turned extends MemoryStore {
  state;
  what = "what is wrong";

  read(name, args) {
    if (this.state === "damaged") throw new StorageError("corrupt", this.what);
    return MemoryStore.prototype[name].apply(this, args);
  }

  commit(expected, writes, durability) {
    if (["full", "read-only"].includes(this.state)) throw new StorageError(this.state);
    if (this.state) throw new StorageError(this.state === "busy" ? "unavailable" : "corrupt", this.what);
    super.commit(expected, writes, durability);
  }
}
for (const name of ["get", "scan", "logEnd", "readLog", "logNames", "searchText", "findText", "textOwners", "readTexts"]) {
  Turned.prototype[name] = function (...args) {
    return this.read(name, args);
  };
}
const turn = (store, state) => void (store.state = state);

/** Stores that break a promise in a state, and the states in which they do. */
const brokenInStates = {
  "keeps what there is room for of what it refuses": [
    ["full", "read-only", "busy"],
    class extends Turned {
      commit(expected, writes, durability) {
        if (this.state && this.state !== "damaged") MemoryStore.prototype.commit.call(this, expected, writes.slice(0, 1), durability);
        super.commit(expected, writes, durability);
      }
    },
  ],
  "gives nothing for what it cannot read": [
    ["damaged"],
    class extends Turned {
      read(name, args) {
        return this.state === "damaged" ? new MemoryStore()[name](...args) : super.read(name, args);
      }
    },
  ],
  "does not say what is wrong": [
    ["busy", "damaged"],
    class extends Turned {
      what = "";
    },
  ],
};

test("a store that comes to states keeps the contract in them", async () => {
  assert.deepEqual(await contract(all, () => new Turned(), { turn }), []);
  const later = async (store, state) => turn(store, await state);
  assert.deepEqual(await contract(all, () => new Turned(), { turn: later }), []);
});

for (const [what, [states, Broken]] of Object.entries(brokenInStates)) {
  test(`a store is found that, in a state, ${what}`, async () => {
    const found = await contract(all, () => new Broken(), { turn });
    const ofThese = all.filter(([, { needs = [] }]) => needs.some((one) => states.includes(one))).map(([name]) => name);
    assert.deepEqual(found.map((text) => text.split(":")[0]), ofThese);
  });
}
