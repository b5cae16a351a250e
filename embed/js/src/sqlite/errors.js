// What can go wrong, and how the engine is told. As `host/src/store/sqlite/error.rs`.

import { StorageError } from "../storage-error.js";

const BUSY = "another process kept it locked for too long";

/** SQLite's primary result codes. */
export const CODES = { busy: 5, locked: 6, noMemory: 7, readOnly: 8, inputOutput: 10, corrupt: 11, full: 13, cannotOpen: 14, tooBig: 18, notADatabase: 26 };

/** How SQLite says, by its extended result codes, that there is no room for the journal's index (shared memory), or for what it writes. */
export const NO_ROOM = [18, 19, 21, 3].map((detail) => CODES.inputOutput | (detail << 8));

/** Why a store could not be opened, as a text and as a `reason`. See `node-sqlite.d.ts`. */
export class OpenError extends Error {
  name = "OpenError";

  constructor(reason, text, options) {
    super(text, options);
    this.reason = reason;
  }
}

/** What the engine is told of what was thrown: a value where it is an error of SQLite's, and otherwise what it is. */
export function told(database, error) {
  switch (database.codeOf(error)) {
    case undefined:
      return error;
    case CODES.full:
      return new StorageError("full");
    case CODES.readOnly:
      return new StorageError("read-only");
    case CODES.tooBig:
    case CODES.noMemory:
      return new StorageError("too-large");
    case CODES.busy:
    case CODES.locked:
      return new StorageError("unavailable", BUSY);
    case CODES.corrupt:
    case CODES.notADatabase:
      return new StorageError("corrupt", error.message);
    default:
      return new StorageError("unavailable", error.message);
  }
}

/** Rows came in another order than was asked for, so that reading page after page would never end. */
export function disorder() {
  return new StorageError("corrupt", "the file is damaged: what is in it is out of order");
}

/** A later version has changed the format of an open store. */
export function newer(found, known) {
  const text = `has format ${found} by now, this package knows formats up to ${known}: use a newer acp-sessions`;
  return new StorageError("unavailable", `the store ${text}`);
}

/** A later version wrote the file. */
export function tooNew(path, found, known) {
  const text = `has format ${found}, this package knows formats up to ${known}: use a newer acp-sessions, or another file`;
  return new OpenError("too-new", `the session store ${path} ${text}`);
}
