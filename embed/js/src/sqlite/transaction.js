/**
 * Does this within a transaction, which is kept at its end, and undone where anything is thrown in it. With the lock `DEFERRED` it sees one
 * state of the store from its first read on; a writer takes its lock at once (`IMMEDIATE`): one that is taken half-way cannot be waited for.
 * `begun` is told whether it could be begun.
 */
export function transaction(database, lock, run, begun = () => {}) {
  try {
    database.run(`BEGIN ${lock}`);
  } catch (error) {
    begun(false);
    throw error;
  }
  begun(true);
  try {
    const found = run(database);
    database.run("COMMIT");
    return found;
  } catch (error) {
    // SQLite may have undone it by itself, as for a full disk.
    if (database.isInTransaction) undo(database);
    throw error;
  }
}

function undo(database) {
  try {
    database.run("ROLLBACK");
  } catch {
    // What keeps it from being undone keeps the next one from beginning, which says so.
  }
}
