import type * as connection from "../bindings/types/interfaces/acp-sessions-connection.js";
import type * as sessions from "../bindings/types/interfaces/acp-sessions-sessions.js";
import type { StorageError as StorageErrorValue } from "../bindings/types/interfaces/acp-sessions-storage.js";
import type { Store } from "./memory.js";

export type { connection, sessions };
export { MemoryStore, type Store } from "./memory.js";

/** What an engine is opened with. */
export interface EngineOptions {
  /** Where everything is kept. Several engines, also of other processes, may have the same store. */
  store: Store;
  /** Settings by name; the README of the project lists them. */
  settings?: Record<string, string | number>;
  /** The time in milliseconds since 1970; that of the system. */
  now?: () => number;
  /** Fills with random bytes that nobody can guess; that of the system. */
  random?: (bytes: Uint8Array) => void;
  /** Is told what went wrong that no peer can be told. */
  warn?: (text: string) => void;
  /** What an instance may use, in bytes: lines of one call (256 MiB), memos (256 MiB). */
  limits?: { output?: number; memos?: number };
}

/** Lines to send, in order. What the engine wants kept and what it warns of is seen to already. */
export interface Step {
  outputs: Array<{ tag: "to-client" | "to-agent"; val: string }>;
  more: boolean;
  held: boolean;
  full: boolean;
}

/**
 * The engine of one connection, driven as the WIT says of its interface `connection`. An instance that is lost, to a trap or to an
 * exception of the store, is replaced: what was being worked on is answered with an error (-32603), all else goes on.
 *
 * @throws EngineError from any of these functions, where three instances in a row were lost; the connection is at an end then
 */
export interface Engine {
  receive(arrivals: connection.Arrival[], clientRoom?: number): Step;
  pull(clientRoom?: number): Step;
  peerClosed(peer: connection.Peer): void;
  agentRestarted(how: string): void;
  idle(): number | undefined;
  /**
   * The typed interface. Its functions throw `Refused` with the error of the WIT, and `EngineError` where the engine was lost.
   */
  readonly sessions: typeof sessions;
}

/** @throws Refused where a setting is unknown or has a bad value, or the store fails */
export function createEngine(options: EngineOptions): Promise<Engine>;

export class EngineError extends Error {}

export class Refused extends Error {
  /** Which error of the WIT: `bad-setting`, `invalid`, `not-found`, `storage`. */
  readonly tag: string;
}

/**
 * How a store says that it did not do what it was asked: an error of the WIT, which the engine answers or tries again.
 * Whatever else a store throws loses the instance.
 */
export class StorageError extends Error {
  constructor(tag: StorageErrorValue["tag"], text?: string);
}
