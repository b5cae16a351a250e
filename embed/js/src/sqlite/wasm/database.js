// SQLite's own build for WebAssembly (`@sqlite.org/sqlite-wasm`) as `SqlStore` takes it.

import { CODES, OpenError, tooNew } from "../errors.js";
import { isMarked, kindOf, mark } from "../kind.js";
import { CURRENT, configure, migrate, version } from "../schema.js";

/** See `SqlStore`. */
export class WasmDatabase {
  #database;
  #sqlite3;
  #wasFull;
  #statements = new Map();

  /**
   * @param {object} database a `DB` of this SQLite's first object-oriented interface, which nobody else uses
   * @param {() => boolean} [wasFull] whether what failed last has failed for want of room
   */
  constructor(sqlite3, database, wasFull = () => false) {
    [this.#sqlite3, this.#database, this.#wasFull] = [sqlite3, database, wasFull];
  }

  /** For what only SQLite's own interface has. */
  get pointer() {
    return this.#database.pointer;
  }

  exec(sql) {
    this.#database.exec(sql);
  }

  *rows(sql, ...bindings) {
    const statement = this.#prepared(sql, bindings);
    try {
      while (statement.step()) yield statement.get([]).map(whole);
    } finally {
      statement.reset();
    }
  }

  run(sql, ...bindings) {
    const statement = this.#prepared(sql, bindings);
    try {
      statement.step();
    } finally {
      // What failed is said once, by the step.
      statement.reset();
    }
  }

  get lastRow() {
    return this.#sqlite3.capi.sqlite3_last_insert_rowid(this.#database);
  }

  get isInTransaction() {
    return !this.#sqlite3.capi.sqlite3_get_autocommit(this.#database);
  }

  codeOf(error) {
    // The primary code is the lowest byte of the extended one.
    const code = typeof error?.resultCode === "number" ? error.resultCode & 0xff : undefined;
    return code === CODES.inputOutput && this.#wasFull() ? CODES.full : code;
  }

  close() {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#database.close();
  }

  #prepared(sql, bindings) {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    if (bindings.length > 0) statement.bind(bindings);
    return statement;
  }
}

/** Integers come as numbers where those hold them. */
function whole(value) {
  return typeof value === "number" ? BigInt(value) : value;
}

/** Makes a store of a database that nobody else has open: one that is empty gets its tables, and what is no store is refused. */
export function prepare(database, path) {
  // Before anything is read: the journal is for one connection alone, since there is no memory that several could share.
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  configure(database);
  if (kindOf(database) === "foreign") {
    throw new OpenError("foreign", `${path} is no session store: it is another program's database; it was not changed`);
  }
  const found = version(database);
  if (found > CURRENT) throw tooNew(path, found, CURRENT);
  if (!isMarked(database)) mark(database);
  if (found < CURRENT) migrate(database);
}
