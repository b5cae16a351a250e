// The tables, and how older ones become them: the steps are the program's own (`host/src/store/sqlite/schema`), which `npm run build` writes
// beside the bindings. `PRAGMA user_version` counts those that were taken.

import { STEPS } from "../../bindings/schema.js";
import { newer } from "./errors.js";
import { row } from "./reading.js";
import { transaction } from "./transaction.js";

/** The format that is written. */
export const CURRENT = STEPS.length;

export function version(database) {
  return Number(row(database, "PRAGMA user_version")[0]);
}

/** That no later version has changed the format since the store was opened: nothing is written to that. */
export function check(database) {
  const found = version(database);
  if (found > CURRENT) throw newer(found, CURRENT);
}

/** Brings the store up to date. Several processes may try at once: one does it, the others find it done. */
export function migrate(database) {
  // Kept in the file; it cannot be changed within a transaction.
  database.exec("PRAGMA journal_mode = WAL");
  transaction(database, "EXCLUSIVE", () => {
    const applied = version(database);
    const pending = STEPS.slice(applied);
    for (const step of pending) database.exec(step);
    // No earlier version has left anything to be cleaned up after in a store that is made here.
    if (applied === 0) database.exec("UPDATE cleaning SET removed = 0");
    if (pending.length > 0) database.exec(`PRAGMA user_version = ${CURRENT}`);
  });
}

/** What a connection is set to, whosever SQLite it is. */
export function configure(database) {
  database.exec("PRAGMA synchronous = NORMAL");
  // Pages of the file kept in memory, in KiB.
  database.exec("PRAGMA cache_size = -4096");
  database.exec("PRAGMA temp_store = MEMORY");
  // How long the journal's file stays, in bytes, when it is begun again: twice of what is in it by then, however long it has grown while
  // somebody kept it from that.
  database.exec("PRAGMA journal_size_limit = 8388608");
  // A file that another process cuts short would be a fatal signal here.
  database.exec("PRAGMA mmap_size = 0");
  // What is deleted is overwritten.
  database.exec("PRAGMA secure_delete = ON");
}
