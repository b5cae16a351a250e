// Seeing to it that what was removed is nowhere in the file. SQLite overwrites a row as it is deleted; the search index has its words still,
// pages have copies of rows in their gaps, and the journal has pages as they were (`host/src/store/sqlite/cleaning.rs`). The program cleans
// page by page, for which this SQLite is not built. So either it does, as the store's table says that there is something to do, or all is
// written anew.

import { row } from "./reading.js";
import { transaction } from "./transaction.js";

/** Notes that the commit that this is a part of removes something. */
export function note(database) {
  const sql = "UPDATE cleaning SET removed = removed + 1, last = ?1, first = CASE first WHEN 0 THEN ?1 ELSE first END";
  database.run(sql, BigInt(Date.now()));
}

/** Writes all anew. Returns whether nothing is left of what was removed before. */
export function clean(database) {
  const [removed] = row(database, "SELECT removed FROM cleaning");
  transaction(database, "IMMEDIATE", () => database.run("INSERT INTO texts (texts) VALUES ('rebuild')"));
  database.exec("VACUUM");
  const [isBusy] = row(database, "PRAGMA wal_checkpoint(TRUNCATE)");
  if (isBusy !== 0n) return false;
  // Whatever slice of a pass another process was at: there is nothing more to do for it, but for what was removed meanwhile.
  database.run(
    `UPDATE cleaning SET covered = max(covered, ?1), stage = 0, place = 0, due = 0,
       first = CASE removed WHEN ?1 THEN 0 ELSE first END`,
    removed,
  );
  return true;
}
