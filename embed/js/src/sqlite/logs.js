// Long series of entries with dense numbers.

import { StorageError } from "../storage-error.js";
import { asked, bounded, readable, row } from "./reading.js";

/** A log's number times this, plus an entry's number, is the entry's row. */
const ENTRIES_PER_LOG = 1n << 32n;
/** The last number an entry can have. */
const LAST_SEQ = 2 ** 32 - 2;
const LAST_ROW = 2n ** 63n - 1n;

/** The first row that a log's entries may have. */
function find(database, log) {
  const found = row(database, "SELECT id FROM logs WHERE name = ?", log);
  return found && found[0] * ENTRIES_PER_LOG;
}

function create(database, log) {
  database.run("INSERT INTO logs (name) VALUES (?)", log);
  const number = database.lastRow;
  if (number >= LAST_ROW / ENTRIES_PER_LOG) throw new StorageError("too-large");
  return number * ENTRIES_PER_LOG;
}

const last = (first) => first + ENTRIES_PER_LOG - 1n;
const rowOf = (first, seq) => first + BigInt(seq);

function endOf(database, first) {
  const sql = "SELECT id FROM entries WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1";
  const found = row(database, sql, first, last(first));
  return found ? Number(found[0] % ENTRIES_PER_LOG) : 0;
}

/** The number of the last entry; 0 where there is none. */
export function end(database, log) {
  const first = find(database, log);
  return first === undefined ? 0 : endOf(database, first);
}

export function read(database, log, start, limit, maxBytes) {
  const first = find(database, log);
  if (first === undefined) return { entries: [], more: false };
  function* entries() {
    const sql = "SELECT id, CAST(value AS BLOB) FROM entries WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ? + 0";
    for (const [place, value] of database.rows(sql, rowOf(first, start), last(first), asked(limit))) {
      const isOfLog = first <= place && place <= last(first);
      yield isOfLog ? [{ seq: Number(place - first), value: readable(value) }, value.length] : undefined;
    }
  }
  const isNext = (before, { seq }) => (before === undefined ? seq >= start : seq > before.seq);
  const [taken, more] = bounded(entries(), limit, maxBytes, isNext);
  return { entries: taken, more };
}

/** Adds an entry; a conflict unless its number is the next, and too large where there is no next. */
export function append(database, { log, seq, value }) {
  const first = find(database, log) ?? create(database, log);
  const before = endOf(database, first);
  if (before >= LAST_SEQ) throw new StorageError("too-large");
  if (seq !== before + 1) throw new StorageError("conflict");
  database.run("INSERT INTO entries (id, value) VALUES (?, ?)", rowOf(first, seq), value);
}

/** Replaces the last entry; a conflict unless it is the last. */
export function amend(database, { log, seq, value }) {
  const first = find(database, log);
  if (first === undefined || seq === 0 || seq !== endOf(database, first)) throw new StorageError("conflict");
  database.run("UPDATE entries SET value = ?2 WHERE id = ?1", rowOf(first, seq), value);
}

/** Puts an entry at a number up to the last, whatever stands there; a conflict beyond. */
export function restore(database, { log, seq, value }) {
  const first = find(database, log);
  if (first === undefined || seq === 0 || seq > endOf(database, first)) throw new StorageError("conflict");
  database.run("INSERT OR REPLACE INTO entries (id, value) VALUES (?, ?)", rowOf(first, seq), value);
}

/** Drops the entries from a number on, and with the first of them the log. */
export function cut(database, { log, start }) {
  const first = find(database, log);
  if (first === undefined) return;
  database.run("DELETE FROM entries WHERE id BETWEEN ? AND ?", rowOf(first, start), last(first));
  if (start <= 1) database.run("DELETE FROM logs WHERE id = ?", first / ENTRIES_PER_LOG);
}
