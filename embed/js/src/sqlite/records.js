// Small values, ordered by key.

import { compare } from "../order.js";
import { StorageError } from "../storage-error.js";
import { bounded, name, readable, row } from "./reading.js";

/** Bytes of values that are given at once: several of the longest. */
const MOST = 256 << 20;

const VALUE = "SELECT CAST(value AS BLOB) FROM records WHERE key = ?";
const RANGE = "SELECT CAST(key AS BLOB), CAST(value AS BLOB) FROM records WHERE key >= ? AND key < ? ORDER BY key";

export function get(database, keys) {
  let left = MOST;
  return keys.map((key) => {
    const found = row(database, VALUE, key);
    if (!found) return undefined;
    left -= found[0].length;
    if (left < 0) throw new StorageError("too-large");
    return readable(found[0]);
  });
}

export function scan(database, start, end, descending, limit, maxBytes) {
  function* entries() {
    for (const [key, value] of database.rows(descending ? `${RANGE} DESC` : RANGE, start, end)) {
      const text = name(key);
      yield text === undefined ? undefined : [{ key: text, value: readable(value) }, key.length + value.length];
    }
  }
  const isNext = (before, { key }) => {
    if (before === undefined) return compare(start, key) <= 0 && compare(key, end) < 0;
    return descending ? compare(key, before.key) < 0 : compare(key, before.key) > 0;
  };
  const [taken, more] = bounded(entries(), limit, maxBytes, isNext);
  return { entries: taken, more };
}

/** A conflict unless all of these hold. */
export function check(database, expected) {
  for (const { key, value } of expected) {
    const found = row(database, VALUE, key);
    if ((found && readable(found[0])) !== value) throw new StorageError("conflict");
  }
}

export function put(database, { key, value }) {
  const sql = "INSERT INTO records (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
  database.run(sql, key, value);
}

export function remove(database, key) {
  database.run("DELETE FROM records WHERE key = ?", key);
}
