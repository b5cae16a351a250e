import * as cleaning from "./cleaning.js";
import { told } from "./errors.js";
import * as logs from "./logs.js";
import { Patience } from "./patience.js";
import { names } from "./reading.js";
import * as records from "./records.js";
import * as schema from "./schema.js";
import * as texts from "./texts.js";
import { transaction } from "./transaction.js";

/** How each write of a commit is done. */
const WRITES = {
  put: records.put,
  remove: records.remove,
  append: logs.append,
  amend: logs.amend,
  restore: logs.restore,
  "cut-log": logs.cut,
  "index-text": texts.index,
  "drop-text": texts.cut,
};

/**
 * The storage of `wit/world.wit` in the tables of the program (`host/src/store/sqlite`), over any SQLite. `database` is one of those that
 * `node/database.js` and `wasm/database.js` make of theirs:
 *
 * - `rows(sql, ...bindings)` gives rows, as arrays, one by one; `run(sql, ...bindings)` does what gives none; `exec(sql)` does
 *   any number of statements, each to its end;
 * - `lastRow` is the number of the row that was inserted last, and `isInTransaction` says whether one is open;
 * - `codeOf(error)` is the primary result code of an error of SQLite's, and nothing of any other.
 *
 * Integers are BigInt both ways, so that none is rounded; blobs are Uint8Array.
 */
export class SqlStore {
  database;
  /** What `PRAGMA synchronous` stands at. */
  #durability = "relaxed";
  #patience;
  /** What `PRAGMA busy_timeout` stands at. */
  #timeout;
  #check;
  #againToWrite;

  /**
   * @param {object} database is opened, configured and has the tables
   * @param {object} options `busyFor`: how many milliseconds other processes are waited for, all in all where waits follow one another;
   * `check` throws a `StorageError` where nothing must be written any more; `againToWrite`, where it can only be read for want of room: gives
   * a database to write to as soon as there is some
   */
  constructor(database, { busyFor = 0, check = () => {}, againToWrite } = {}) {
    [this.database, this.#check, this.#againToWrite] = [database, check, againToWrite];
    this.#patience = new Patience(busyFor, performance.now());
  }

  /** Lets go of the file. Nothing may be called after that. */
  close() {
    this.database.close();
  }

  get(keys) {
    return this.#read((database) => records.get(database, keys));
  }

  scan(start, end, descending, limit, maxBytes) {
    return this.#told((database) => records.scan(database, start, end, descending, limit, maxBytes));
  }

  logEnd(log) {
    return this.#read((database) => logs.end(database, log));
  }

  readLog(log, start, limit, maxBytes) {
    return this.#read((database) => logs.read(database, log, start, limit, maxBytes));
  }

  searchText(term, after, limit) {
    return this.#read((database) => texts.search(database, term, after, limit));
  }

  findText(term, scopes) {
    return this.#read((database) => texts.find(database, term, scopes));
  }

  textOwners(after, limit) {
    return this.#told((database) => names(database, "owners", after, limit));
  }

  readTexts(owner, start, limit, maxBytes) {
    return this.#read((database) => texts.read(database, owner, start, limit, maxBytes));
  }

  logNames(after, limit) {
    return this.#told((database) => names(database, "logs", after, limit));
  }

  commit(expected, writes, durability) {
    this.#check();
    this.#told((database) => {
      this.#setDurability(durability);
      this.#write(() => {
        schema.check(database);
        records.check(database, expected);
        for (const { tag, val } of writes) WRITES[tag](database, val);
        if (writes.some(({ tag }) => tag === "cut-log" || tag === "drop-text")) cleaning.note(database);
      });
    });
  }

  /**
   * Leaves nothing in the file of what was removed by now: the whole file is written anew, and others cannot write meanwhile. Returns whether
   * that is done; others that read for long keep the last of it in the journal, for the next time. Not within a call of an engine's.
   */
  clean() {
    this.#check();
    return this.#told((database) => {
      this.#setDurability("relaxed");
      return cleaning.clean(database);
    });
  }

  /** Writes from now on if it waits for that and can by now: others may, which who only reads does not see. */
  #lookForRoom() {
    const database = this.#againToWrite?.();
    if (!database) return;
    this.database.close();
    [this.database, this.#durability, this.#timeout, this.#againToWrite] = [database, "relaxed", undefined, undefined];
  }

  #told(run) {
    this.#lookForRoom();
    try {
      return run(this.database);
    } catch (error) {
      throw told(this.database, error);
    }
  }

  /** Reads that belong together see one state of the store. */
  #read(read) {
    return this.#told((database) => transaction(database, "DEFERRED", read));
  }

  /** Other processes are waited for no longer than there is patience left. Reads wait for nobody. */
  #write(write) {
    const timeout = Math.round(this.#patience.begin(performance.now()));
    if (timeout !== this.#timeout) this.database.exec(`PRAGMA busy_timeout = ${timeout}`);
    this.#timeout = timeout;
    transaction(this.database, "IMMEDIATE", write, (well) => this.#patience.end(performance.now(), well));
  }

  #setDurability(durability) {
    if (this.#durability === durability) return;
    this.database.exec(`PRAGMA synchronous = ${durability === "relaxed" ? "NORMAL" : "FULL"}`);
    this.#durability = durability;
  }
}
