// What reads have in common: rows that come in order, up to a number of rows or bytes, as far as they can be read.

import { compare } from "../order.js";
import { disorder } from "./errors.js";

const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** The first row, if there is one. */
export function row(database, sql, ...bindings) {
  for (const found of database.rows(sql, ...bindings)) return found;
  return undefined;
}

/** A text that was asked for as its bytes, with U+FFFD for whatever is none: bytes that are no text keep nobody from what stands beside them. */
export function readable(value) {
  return lenient.decode(value ?? new Uint8Array());
}

/** A key or a name; none where it is no text: nobody could ask for it. */
export function name(value) {
  try {
    return strict.decode(value);
  } catch {
    return undefined;
  }
}

/**
 * How many rows to ask for: one more than may be returned, to know whether there are more. Statements say `LIMIT ? + 0`: a limit that is
 * a parameter and nothing else is part of the plan, and each use would prepare the statement anew.
 */
export function asked(limit) {
  return BigInt(Math.max(limit, 1) + 1);
}

/**
 * Takes rows until a bound is reached, but one where there is one; says whether any were left. A row comes with its bytes, or is none that
 * counts; `isNext` says whether it may follow the one before, or be the first.
 */
export function bounded(found, limit, maxBytes, isNext) {
  const taken = [];
  let held = 0;
  for (const one of found) {
    if (one === undefined) continue;
    const [item, size] = one;
    held += size;
    if (taken.length > 0 && (taken.length >= limit || held > maxBytes)) return [taken, true];
    if (!isNext(taken.at(-1), item)) throw disorder();
    taken.push(item);
  }
  return [taken, false];
}

/** Names behind this one in a table, `logs` or `owners`, in their order. */
export function names(database, table, after, limit) {
  // The least name behind the one before.
  const start = after === undefined ? "" : `${after}\0`;
  const taken = [];
  if (limit === 0) return taken;
  for (const [found] of database.rows(`SELECT CAST(name AS BLOB) FROM ${table} WHERE name >= ? ORDER BY name`, start)) {
    const text = name(found);
    if (text === undefined) continue;
    if (taken.length > 0 ? compare(text, taken.at(-1)) <= 0 : compare(text, start) < 0) throw disorder();
    taken.push(text);
    if (taken.length === limit) break;
  }
  return taken;
}
