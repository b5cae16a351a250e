import type { Store } from "./memory.js";

declare const FileStoreBase: new () => Store;

/**
 * A store in a file that any number of processes share, this package and the program `acp-sessions` among them, by `node:sqlite`. The file is
 * created where it is missing, and so are the folders above it, for their owner alone; rights that others have on it are taken from
 * them. A file that cannot be written is opened for reading; where that is for want of room, it is written to as soon as there is some.
 *
 * An engine has one of its own. No other SQLite may have the file open in this process (`node:sqlite` itself may): whichever closes it first
 * drops the locks of both.
 */
export class FileStore extends FileStoreBase {
  /**
   * @param path may begin with `~/`, the user's home folder
   * @param options `busyFor`: how many milliseconds it waits for other processes that write, all in all where waits follow one another; 10,000.
   * As long as they end well there is half of that for each
   * @throws OpenError
   */
  constructor(path: string, options?: { busyFor?: number });

  /**
   * Leaves nothing in the file of what was removed by now: the whole file is written anew, and others cannot write meanwhile. Returns
   * whether that is done; others that read for long keep the last of it in the journal, for the next time. Not within a call of an engine's.
   */
  clean(): boolean;

  /** Lets go of the file. Nothing may be called after that. */
  close(): void;
}

/** Why a store could not be opened. */
export class OpenError extends Error {
  /**
   * `no-sqlite` (this Node has none), `no-opfs` (this is no page of a browser that has what the store needs), `old-sqlite` (it is older than 3.51.3), `create` (the file or its folder could not be), `too-new` (a
   * later version wrote it), `foreign` (another program's database, or none at all; it was not changed), `no-file` (a folder or the like),
   * `empty-read-only`, `rights` (others have some that cannot be taken from them), `open` (SQLite's own).
   */
  readonly reason:
    | "no-sqlite"
    | "no-opfs"
    | "old-sqlite"
    | "create"
    | "too-new"
    | "foreign"
    | "no-file"
    | "empty-read-only"
    | "rights"
    | "open";
}
