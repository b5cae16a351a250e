// Whose a database is.

import { row } from "./reading.js";
import { transaction } from "./transaction.js";

/** What `PRAGMA application_id` says of a store: `acps`. */
const OURS = 0x6163_7073n;

/** The tables of a store. */
const TABLES = ["records", "logs", "entries", "owners", "texts", "vocabulary"];

/**
 * Whose it is: `store`; `unmarked`, one of a version that did not mark them; `empty`, nobody's, for there is nothing in it; `foreign`,
 * another program's.
 */
export function kindOf(database) {
  const [[application], [version]] = [row(database, "PRAGMA application_id"), row(database, "PRAGMA user_version")];
  if (application === OURS) return "store";
  if (application !== 0n) return "foreign";
  const objects = new Set([...database.rows("SELECT name FROM sqlite_master")].map(([name]) => name));
  if (version === 0n && objects.size === 0) return "empty";
  return version > 0n && TABLES.every((name) => objects.has(name)) ? "unmarked" : "foreign";
}

export function isMarked(database) {
  return row(database, "PRAGMA application_id")[0] === OURS;
}

/** Marks a store as one. Whose it is is looked at again: another program may have been faster. */
export function mark(database) {
  return transaction(database, "IMMEDIATE", () => {
    const kind = kindOf(database);
    if (kind === "unmarked" || kind === "empty") database.exec(`PRAGMA application_id = ${OURS}`);
    return kind;
  });
}
