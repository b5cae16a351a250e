// Search in texts, by SQLite's FTS5.

import { StorageError } from "../storage-error.js";
import { disorder } from "./errors.js";
import { holds, isLongerPrefix, literal, query } from "./phrase.js";
import { asked, bounded, readable, row } from "./reading.js";

/** An owner's number times this, plus the part, is the text's row. */
const PARTS_PER_OWNER = 1n << 28n;
const LAST_ROW = 2n ** 63n - 1n;

/** How many bytes of texts are read before the index is asked: to set a search up takes it longer than this. */
const READ_AT_MOST = 32 * 1024;

/** The row of a part. Numbers past the last possible one all give the row behind the owner's. */
function rowOf(owner, part) {
  const number = BigInt(part);
  return owner * PARTS_PER_OWNER + (number < PARTS_PER_OWNER ? number : PARTS_PER_OWNER);
}

const lastRow = (owner) => rowOf(owner + 1n, 0) - 1n;
const partOf = (place) => Number(place % PARTS_PER_OWNER);

function findOwner(database, name) {
  return row(database, "SELECT id FROM owners WHERE name = ?", name)?.[0];
}

function createOwner(database, name) {
  database.run("INSERT INTO owners (name) VALUES (?)", name);
  const owner = database.lastRow;
  if (owner >= LAST_ROW / PARTS_PER_OWNER) throw new StorageError("too-large");
  return owner;
}

/** Where the term is, the newest owner first and within an owner the last part first, below `after`. */
export function search(database, term, after, limit) {
  const hits = [];
  const sought = query(database, term);
  if (sought === undefined || limit === 0) return hits;
  let before = LAST_ROW;
  if (after !== undefined) {
    // An owner keeps its number for good, so one without a number never was a hit.
    const owner = findOwner(database, after.owner);
    before = owner === undefined ? 0n : rowOf(owner, after.part);
  }
  let owner, name;
  const sql = "SELECT rowid FROM texts WHERE texts MATCH ? AND rowid < ? ORDER BY rowid DESC";
  for (const [place] of database.rows(sql, sought, before)) {
    if (place >= before) throw disorder();
    before = place;
    if (place / PARTS_PER_OWNER !== owner) {
      owner = place / PARTS_PER_OWNER;
      const found = row(database, "SELECT CAST(name AS BLOB) FROM owners WHERE id = ?", owner);
      name = found && readable(found[0]);
    }
    // What is nobody's is no hit.
    if (name === undefined) continue;
    hits.push({ owner: name, part: partOf(place) });
    if (hits.length === limit) break;
  }
  return hits;
}

/** For each scope the first part that holds the term. */
export function find(database, term, scopes) {
  // For a longer prefix FTS5 would go through all texts of the store, and that for each scope.
  const most = isLongerPrefix(term) ? Infinity : READ_AT_MOST;
  return scopes.map(({ owner: name, until }) => {
    const owner = findOwner(database, name);
    if (owner === undefined) return undefined;
    const [end, ownersLast] = [rowOf(owner, until), lastRow(owner)];
    const last = end < ownersLast ? end : ownersLast;
    let { found, rest } = firstRead(database, term, rowOf(owner, 0), last, most);
    if (rest !== undefined) found = firstMatch(database, term, rest, last);
    return found && partOf(found);
  });
}

/** The first of these rows that holds the term, by the index. */
function firstMatch(database, term, first, last) {
  const sql = "SELECT rowid FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT 1";
  return row(database, sql, literal(term), first, last)?.[0];
}

/** The first of these rows that holds the term by reading them; where that would be more than so many bytes, the row that is next. */
function firstRead(database, term, first, last, most) {
  let held = 0;
  const sql = "SELECT rowid, CAST(tokens AS BLOB) FROM texts WHERE rowid BETWEEN ? AND ? ORDER BY rowid";
  for (const [place, tokens] of database.rows(sql, first, last)) {
    if (held > most) return { rest: place };
    if (holds(readable(tokens), term)) return { found: place };
    held += tokens.length;
  }
  return {};
}

/** The texts of an owner from a part on. */
export function read(database, owner, start, limit, maxBytes) {
  const number = findOwner(database, owner);
  if (number === undefined) return { texts: [], more: false };
  function* texts() {
    const sql = "SELECT rowid, CAST(tokens AS BLOB) FROM texts WHERE rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ? + 0";
    for (const [place, tokens] of database.rows(sql, rowOf(number, start), lastRow(number), asked(limit))) {
      const isOwners = place / PARTS_PER_OWNER === number;
      yield isOwners ? [{ owner, part: partOf(place), tokens: readable(tokens) }, tokens.length] : undefined;
    }
  }
  const isNext = (before, { part }) => (before === undefined ? part >= start : part > before.part);
  const [taken, more] = bounded(texts(), limit, maxBytes, isNext);
  return { texts: taken, more };
}

/** Replaces what is indexed for an owner's part. */
export function index(database, { owner, part, tokens }) {
  if (part >= PARTS_PER_OWNER) throw new StorageError("too-large");
  const number = findOwner(database, owner);
  if (tokens === "") {
    if (number !== undefined) database.run("DELETE FROM texts WHERE rowid = ?", rowOf(number, part));
    return;
  }
  const place = rowOf(number ?? createOwner(database, owner), part);
  database.run("INSERT OR REPLACE INTO texts (rowid, tokens) VALUES (?, ?)", place, tokens);
}

/** Drops the parts of an owner from a number on. */
export function cut(database, { owner, start }) {
  const number = findOwner(database, owner);
  if (number === undefined) return;
  database.run("DELETE FROM texts WHERE rowid BETWEEN ? AND ?", rowOf(number, start), lastRow(number));
}
