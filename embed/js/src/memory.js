import { Ordered, bytes } from "./order.js";
import { StorageError } from "./storage-error.js";
import { Texts } from "./texts.js";

const LAST_SEQ = 2 ** 32 - 2;
const LAST_PART = 2 ** 28 - 1;

/** A store in memory, after the contract of `storage` in the WIT. What is in it ends with the process. */
export class MemoryStore {
  #records = new Ordered();
  #logs = new Ordered();
  #texts = new Texts();

  get(keys) {
    return keys.map((key) => this.#records.get(key));
  }

  scan(start, end, descending, limit, maxBytes) {
    const records = this.#records;
    const [from, to] = [records.place(start), Math.max(records.place(start), records.place(end))];
    const entry = (at) => {
      const key = records.keyAt(at);
      return { key, value: records.get(key) };
    };
    const at = (nth) => entry(descending ? to - 1 - nth : from + nth);
    const [entries, more] = bounded(to - from, at, limit, maxBytes, ({ key, value }) => bytes(key) + bytes(value));
    return { entries, more };
  }

  logEnd(log) {
    return this.#logs.get(log)?.length ?? 0;
  }

  readLog(log, start, limit, maxBytes) {
    const values = this.#logs.get(log) ?? [];
    const first = Math.max(start, 1);
    const at = (nth) => ({ seq: first + nth, value: values[first + nth - 1] });
    const [entries, more] = bounded(values.length - first + 1, at, limit, maxBytes, ({ value }) => bytes(value));
    return { entries, more };
  }

  searchText(term, after, limit) {
    return this.#texts.search(term, after, limit);
  }

  findText(term, scopes) {
    return this.#texts.find(term, scopes);
  }

  textOwners(after, limit) {
    return this.#texts.owners(after, limit);
  }

  readTexts(owner, start, limit, maxBytes) {
    const all = this.#texts.of(owner).filter(({ part }) => part >= start);
    const [texts, more] = bounded(all.length, (nth) => all[nth], limit, maxBytes, ({ tokens }) => bytes(tokens));
    return { texts, more };
  }

  logNames(after, limit) {
    return this.#logs.behind(after, limit);
  }

  commit(expected, writes, _durability) {
    for (const { key, value } of expected) {
      if (this.#records.get(key) !== value) throw new StorageError("conflict");
    }
    this.#checkPlaces(writes);
    for (const { tag, val } of writes) this.#apply(tag, val);
  }

  /** Whether every append, amend and text finds its place, given the writes before it. */
  #checkPlaces(writes) {
    const ends = new Map();
    const end = (log) => ends.get(log) ?? this.logEnd(log);
    for (const { tag, val } of writes) {
      if (tag === "append") {
        if (end(val.log) >= LAST_SEQ) throw new StorageError("too-large");
        if (val.seq !== end(val.log) + 1) throw new StorageError("conflict");
        ends.set(val.log, val.seq);
      } else if (tag === "amend") {
        if (val.seq === 0 || val.seq !== end(val.log)) throw new StorageError("conflict");
      } else if (tag === "restore") {
        if (val.seq === 0 || val.seq > end(val.log)) throw new StorageError("conflict");
      } else if (tag === "cut-log") {
        ends.set(val.log, Math.min(end(val.log), Math.max(val.start - 1, 0)));
      } else if (tag === "index-text" && val.part > LAST_PART) {
        throw new StorageError("too-large");
      }
    }
  }

  #apply(tag, val) {
    switch (tag) {
      case "put":
        return this.#records.set(val.key, val.value);
      case "remove":
        return this.#records.delete(val);
      case "append":
        if (val.seq === 1) this.#logs.set(val.log, []);
        return void this.#logs.get(val.log).push(val.value);
      case "amend":
      case "restore":
        this.#logs.get(val.log)[val.seq - 1] = val.value;
        return;
      case "cut-log": {
        const left = Math.max(val.start - 1, 0);
        if (left === 0) this.#logs.delete(val.log);
        else if (this.logEnd(val.log) > left) this.#logs.get(val.log).length = left;
        return;
      }
      case "index-text":
        return this.#texts.put(val.owner, val.part, val.tokens);
      case "drop-text":
        return this.#texts.drop(val.owner, val.start);
      default:
        throw new TypeError(`there is no write ${tag}`);
    }
  }
}

/** As many as a page may have, but one where there is one; and whether any are left. */
function bounded(count, at, limit, maxBytes, size) {
  const taken = [];
  let held = 0;
  for (let nth = 0; nth < count; nth++) {
    const entry = at(nth);
    held += size(entry);
    if (taken.length > 0 && (taken.length >= limit || held > maxBytes)) return [taken, true];
    taken.push(entry);
  }
  return [taken, false];
}
