// Node's own SQLite as `SqlStore` takes it.

import { OpenError } from "../errors.js";

/** Before it, a process that emptied the journal while another wrote could damage the file. */
const OLDEST = [3, 51, 3];

/** The module `node:sqlite`, where it is there and new enough; an `OpenError` otherwise. */
export function library(found = process.getBuiltinModule?.("node:sqlite"), versions = process.versions) {
  const oldest = OLDEST.join(".");
  if (!found?.DatabaseSync) {
    const text = `Node ${versions.node} has no node:sqlite; one with SQLite ${oldest} or newer is needed: Node 22.23, 24.15 or newer ones`;
    throw new OpenError("no-sqlite", text);
  }
  if (isOlder(versions.sqlite.split(".").map(Number), OLDEST)) {
    const why = "older ones can damage a file that several processes write";
    throw new OpenError("old-sqlite", `Node ${versions.node} has SQLite ${versions.sqlite}; ${oldest} or newer is needed: ${why}`);
  }
  return found;
}

function isOlder(version, than) {
  const at = than.findIndex((number, nth) => (version[nth] ?? 0) !== number);
  return at >= 0 && (version[at] ?? 0) < than[at];
}

/** See `SqlStore`. */
export class NodeDatabase {
  #database;
  #statements = new Map();

  /** @param {URL} url of the file, with what SQLite is told in its query */
  constructor({ DatabaseSync }, url, { readOnly = false } = {}) {
    this.#database = new DatabaseSync(url, { readOnly });
  }

  exec(sql) {
    this.#database.exec(sql);
  }

  *rows(sql, ...bindings) {
    try {
      // Left half-way, it is begun anew.
      yield* this.#prepared(sql).iterate(...bindings);
    } catch (error) {
      // Begun anew, it would throw this once more, whatever has become of it.
      this.#statements.delete(sql);
      throw error;
    }
  }

  run(sql, ...bindings) {
    this.#prepared(sql).run(...bindings);
  }

  get lastRow() {
    for (const [row] of this.rows("SELECT last_insert_rowid()")) return row;
  }

  get isInTransaction() {
    return this.#database.isTransaction;
  }

  codeOf(error) {
    // The primary code is the lowest byte of the extended one.
    return error?.code === "ERR_SQLITE_ERROR" ? error.errcode & 0xff : undefined;
  }

  close() {
    this.#database.close();
  }

  #prepared(sql) {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#database.prepare(sql);
      statement.setReadBigInts(true);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
