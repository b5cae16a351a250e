// Where a store lies: its files and folders, for their owner alone whatever the umask, and whether they are still there.

import * as fs from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { StorageError } from "../../storage-error.js";
import { OpenError } from "../errors.js";

/** What SQLite keeps beside the file itself. */
const SIDES = ["-wal", "-shm", "-journal"];

const OTHERS = 0o077;

/** As for the program: settings have what no shell has made a home folder of. */
export function inHome(path) {
  const below = (process.platform === "win32" ? /^~[\\/]+([^]+)$/ : /^~\/+([^]+)$/).exec(path)?.[1];
  return below === undefined ? path : join(homedir(), below);
}

/** The file of an open store: what says that it is still where it was. What is written into one without a name is lost. */
export function watched(path) {
  const before = identity(path);
  return () => {
    const now = identity(path);
    if (before === undefined || now !== before) throw new StorageError("unavailable", "the store's file was removed or replaced");
  };
}

/** What tells a file from another one of the same name. */
function identity(path) {
  const found = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/** Makes the file and the folders above it where they are missing. */
export function create(path) {
  try {
    createFolder(dirname(path));
    try {
      fs.closeSync(fs.openSync(path, "wx", 0o600));
    } catch (error) {
      if (error.code === "EEXIST") return;
      throw error;
    }
    // The umask may have taken away what its owner needs.
    fs.chmodSync(path, 0o600);
  } catch (error) {
    throw new OpenError("create", `cannot create the session store ${path}: ${error.message}`, { cause: error });
  }
}

function createFolder(folder) {
  if (isFolder(folder)) return;
  createFolder(dirname(folder));
  try {
    fs.mkdirSync(folder, 0o700);
    fs.chmodSync(folder, 0o700);
  } catch (error) {
    // Another process was faster.
    if (error.code !== "EEXIST" || !isFolder(folder)) throw error;
  }
}

function isFolder(path) {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

export function isFile(path) {
  return fs.statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Takes from the store's files what rights others have on them. SQLite gives the main file's to those that it makes. */
export function narrow(path) {
  if (process.platform === "win32") return;
  for (const file of [path, ...SIDES.map((side) => path + side)]) {
    try {
      const mode = fs.statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
      if (mode & OTHERS) fs.chmodSync(file, mode & 0o777 & ~OTHERS);
    } catch (error) {
      if (error.code === "ENOENT") continue;
      const text = `others than its owner may use the session store's file ${file}, and that cannot be changed: ${error.message}`;
      throw new OpenError("rights", text, { cause: error });
    }
  }
}

/** Whether the system lets the file be written. */
export function isWritable(path) {
  try {
    fs.accessSync(path, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether there is something in the journal beside the file that is not in the file yet. */
export function hasJournal(path) {
  return sizeOf(`${path}-wal`) > 0;
}

export function sizeOf(path) {
  return fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
