// Opening: the settings of a connection, what is only read, and waiting for other processes. As `host/src/store/sqlite/open.rs`.

import { pathToFileURL } from "node:url";

import { CODES, NO_ROOM, OpenError, tooNew } from "../errors.js";
import { isMarked, kindOf, mark } from "../kind.js";
import { CURRENT, configure, migrate, version } from "../schema.js";
import { NodeDatabase, library } from "./database.js";
import * as place from "./place.js";

/** How long after an attempt to write to a store that could only be read for want of room it is tried again, in milliseconds. */
const AGAIN = 1000;

/**
 * Opens the store in a file, which is made where it is missing; waits so many milliseconds for other processes.
 *
 * @returns {{ database: NodeDatabase, againToWrite?: () => NodeDatabase | undefined }} as `SqlStore` takes them
 */
export function openFile(path, busyFor) {
  const file = new StoreFile(library(), path, busyFor);
  place.create(file.path);
  if (!place.isFile(file.path)) throw new OpenError("no-file", `${file.path} is no session store: it is not a file`);
  return file.open();
}

/** A file that is to be opened. */
class StoreFile {
  #library;
  #busyFor;

  constructor(found, path, busyFor) {
    [this.#library, this.path, this.#busyFor] = [found, path, busyFor];
  }

  open() {
    try {
      if (this.#retried(() => this.#kind()) === "foreign") throw this.#foreign();
      try {
        return { database: this.#openToWrite() };
      } catch (error) {
        const isForRoom = codeOf(error) === CODES.full || NO_ROOM.includes(error?.errcode);
        if (!isForRoom && ![CODES.readOnly, CODES.cannotOpen].includes(codeOf(error))) throw error;
        const database = this.#openToRead();
        return isForRoom ? { database, againToWrite: this.#againToWrite() } : { database };
      }
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      throw new OpenError("open", `cannot open the session store ${this.path}: ${error.message}`, { cause: error });
    }
  }

  /** What opens it to write, if there is room by now and it was not tried just before; nobody is waited for. */
  #againToWrite() {
    const hasty = new StoreFile(this.#library, this.path, 0);
    const isThere = place.watched(this.path);
    let tried = performance.now();
    return () => {
      if (performance.now() - tried < AGAIN || !place.isWritable(this.path)) return undefined;
      tried = performance.now();
      try {
        isThere();
        const database = hasty.#openToWrite();
        database.exec(`PRAGMA busy_timeout = ${Math.round(this.#busyFor)}`);
        return database;
      } catch {
        return undefined;
      }
    };
  }

  /** Whose the database is. Nothing is written, neither into it nor beside it. */
  #kind() {
    const kind = this.#lookedAt();
    // SQLite takes a single byte for nothing.
    return kind === "empty" && place.sizeOf(this.path) === 1 ? "foreign" : kind;
  }

  #lookedAt() {
    try {
      if (!place.hasJournal(this.path)) return this.#look("immutable=1", kindOf);
      // A store was marked before it had a journal. One that is open here must not be looked at in the other way: connections of
      // a process share what they know of a journal, and what may not be written for one is not written for any.
      if (this.#isMarkedWithout()) return "store";
      try {
        // With the journal's index as it is there; a computer that crashes leaves a journal without one.
        return this.#look("mode=ro&readonly_shm=1", kindOf);
      } catch (error) {
        if (codeOf(error) === undefined || codeOf(error) === CODES.notADatabase) throw error;
        return "foreign";
      }
    } catch (error) {
      if (codeOf(error) === CODES.notADatabase) return "foreign";
      throw error;
    }
  }

  /** Whether the file is marked, whatever is in its journal. It may be half of what it is to be: then that cannot be told. */
  #isMarkedWithout() {
    try {
      return this.#look("immutable=1", isMarked);
    } catch (error) {
      if (codeOf(error) === undefined || codeOf(error) === CODES.notADatabase) throw error;
      return false;
    }
  }

  #look(how, look) {
    const database = this.#connect(how);
    try {
      return look(database);
    } finally {
      database.close();
    }
  }

  #openToWrite() {
    if (!place.isWritable(this.path)) return this.#openToRead();
    return this.#opened("mode=rw", (database) => {
      place.narrow(this.path);
      this.#configure(database);
      const found = this.#knownVersion(database);
      if (!isMarked(database) && this.#retried(() => mark(database)) === "foreign") throw this.#foreign();
      if (found < CURRENT) this.#retried(() => migrate(database));
    });
  }

  /** Opens a store that can only be read: the tables have been the same in all versions. */
  #openToRead() {
    // Without a journal there is nobody who writes, and nothing that would have to be made beside the file.
    return this.#opened(place.hasJournal(this.path) ? "mode=ro" : "immutable=1", (database) => {
      this.#configure(database);
      if (this.#knownVersion(database) < CURRENT && kindOf(database) === "empty") {
        throw new OpenError("empty-read-only", `the session store ${this.path} is empty and cannot be written`);
      }
    });
  }

  #opened(how, prepare) {
    const database = this.#connect(how);
    try {
      prepare(database);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  #connect(how) {
    return new NodeDatabase(this.#library, new URL(`?${how}`, pathToFileURL(this.path)), { readOnly: how !== "mode=rw" });
  }

  #configure(database) {
    database.exec(`PRAGMA busy_timeout = ${Math.round(this.#busyFor)}`);
    configure(database);
  }

  #knownVersion(database) {
    const found = this.#retried(() => version(database));
    if (found > CURRENT) throw tooNew(this.path, found, CURRENT);
    return found;
  }

  /** SQLite does not wait by itself where waiting could be a deadlock; as nothing is held here, it cannot be one. */
  #retried(attempt) {
    for (const begun = performance.now(); ; Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)) {
      try {
        return attempt();
      } catch (error) {
        const isBusy = [CODES.busy, CODES.locked].includes(codeOf(error));
        if (!isBusy || performance.now() - begun >= this.#busyFor) throw error;
      }
    }
  }

  #foreign() {
    const text = "it is another program's database, or no database at all; it was not changed";
    return new OpenError("foreign", `${this.path} is no session store: ${text}`);
  }
}

const codeOf = (error) => NodeDatabase.prototype.codeOf(error);
