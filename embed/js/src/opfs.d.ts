import type { GuardedEngine } from "./guarded.js";
import type { EngineOptions } from "./index.js";

export { OpenError } from "./node-sqlite.js";

/**
 * Opens a store in the private file system of the page's origin, by SQLite's build for WebAssembly. All tabs of the origin have the
 * same store of a name: it is open in a worker of one of them, and the engines of all are at work there; when that tab goes, in whatever way,
 * another takes over. Only in a secure context.
 *
 * @param name letters, digits, `_` and `-`, up to 64; `sessions`
 * @param options `library`: where the module of `@sqlite.org/sqlite-wasm` is, if neither an import map nor a tool that makes one script of
 * all says so; `milliseconds`: how long a call may take, 60,000: the worker is ended in which one takes longer, and another takes over
 * @throws OpenError where it cannot be opened
 */
export function openOpfs(name?: string, options?: { library?: string | URL; milliseconds?: number }): Promise<OpfsStore>;

export interface OpfsStore {
  /**
   * Opens a connection over the store. Its functions return promises, and are done one after the other. Where the tab goes that has the store
   * open, what was being worked on fails as where an instance is lost: a request with -32603, a call of `sessions` that does more than
   * read with `EngineError`. Turns go on, and what is asked from then on waits until another tab has taken over.
   */
  createEngine(options?: Pick<EngineOptions, "settings" | "warn" | "limits">): Promise<GuardedEngine>;
  /**
   * Leaves nothing in the file of what was removed by now: the whole file is written anew, and all tabs wait meanwhile. Returns whether that
   * is done. Fails with `StorageError`.
   */
  clean(): Promise<boolean>;
  /** Whether it is this tab that has the store open. */
  readonly holds: boolean;
  /** Lets go of the store. What is under way, and what is called later, fails with `EngineError`. */
  close(): void;
}
