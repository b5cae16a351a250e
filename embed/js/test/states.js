// How SQL stores come to the states of the contract (`tests/storage/states`), by SQLite itself. Runs in browsers too.

/** No more than what is left on its pages goes into it. */
export function fill({ database }) {
  const [[pages]] = [...database.rows("PRAGMA page_count")];
  database.exec(`PRAGMA max_page_count = ${pages}`);
}

export function forbid({ database }) {
  database.exec("PRAGMA query_only = 1");
}

/** Turns a store in these ways, by the names of the states. */
export const turning = (ways) => (store, state) => ways[state](store);
