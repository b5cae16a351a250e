// Opens the database in the origin's private file system. Who does that holds the lock of the store.

import { OpenError } from "../sqlite/errors.js";
import { SqlStore } from "../sqlite/store.js";
import { WasmDatabase, prepare } from "../sqlite/wasm/database.js";
import { wasFull } from "./room.js";

const FILE = "/sessions.db";
/** Files that SQLite may have at a time: the database, its journal, and what it writes for a moment. */
const FILES = 6;
/** How long the files of one who has just ended may stay its own, in milliseconds, and how often they are looked for. */
const PATIENCE = 30_000;
const PAUSE = 20;

/** Opens the store of a name. */
export async function open(name, library) {
  try {
    return storeIn(await openPool(name, library), FILE, name);
  } catch (error) {
    if (error instanceof OpenError) throw error;
    throw new OpenError("open", `cannot open the session store ${name}: ${error?.message ?? error}`, { cause: error });
  }
}

/**
 * SQLite, with the files of a name.
 *
 * @param {string} [library] where SQLite's module is, unless who made one script of all knows
 */
export async function openPool(name, library) {
  const sqlite3 = await load(library);
  const pool = await acquire(sqlite3, name);
  // Who ended as it made them has left fewer.
  await pool.reserveMinimumCapacity(FILES);
  return { sqlite3, pool };
}

/** The store in one of these files. */
export function storeIn({ sqlite3, pool }, file, name) {
  const database = new WasmDatabase(sqlite3, new pool.OpfsSAHPoolDb(file), wasFull);
  try {
    prepare(database, name);
  } catch (error) {
    database.close();
    throw error;
  }
  return new SqlStore(database);
}

async function load(library) {
  // Its other ways to this file system need what most servers do not send, and would complain.
  globalThis.sqlite3ApiConfig = { disable: { vfs: { kvvfs: true, opfs: true, "opfs-vfs": true, "opfs-wl": true } } };
  const { default: init } = await (library ? import(/* @vite-ignore */ /* webpackIgnore: true */ library) : import("@sqlite.org/sqlite-wasm"));
  return init();
}

async function acquire(sqlite3, name) {
  const options = {
    name: `acp-sessions-${name}`,
    directory: `acp-sessions/${name}`,
    initialCapacity: FILES,
    forceReinitIfPreviouslyFailed: true,
    // Otherwise SQLite sets out to delete all that is stored where a file is somebody's still.
    preserveOnInitFailure: true,
    verbosity: 0,
  };
  const begun = performance.now();
  for (let attempt = 0; ; attempt++) {
    try {
      return await sqlite3.installOpfsSAHPoolVfs(options);
    } catch (error) {
      if (error?.name !== "NoModificationAllowedError" || performance.now() - begun > PATIENCE) throw error;
      if (attempt === 0) console.warn(`the files of the session store ${name} are somebody's still: waiting for them`);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}
