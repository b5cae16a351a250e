import type * as connection from "../bindings/types/interfaces/acp-sessions-connection.js";
import type * as sessions from "../bindings/types/interfaces/acp-sessions-sessions.js";
import type { EngineOptions, Step } from "./index.js";

/** As `EngineOptions`, with a deadline. */
export interface GuardedEngineOptions extends EngineOptions {
  /** How long a call may take in milliseconds, time in the store included; 60,000. */
  milliseconds?: number;
}

/** The same functions, each of which promises what it returns; they are done one after the other, as they were called. */
export interface GuardedEngine {
  receive(arrivals: connection.Arrival[], clientRoom?: number): Promise<Step>;
  pull(clientRoom?: number): Promise<Step>;
  peerClosed(peer: connection.Peer): Promise<void>;
  agentRestarted(how: string): Promise<void>;
  idle(): Promise<number | undefined>;
  readonly flushMs: number;
  readonly sessions: {
    [name in keyof typeof sessions]: (typeof sessions)[name] extends (...args: infer Arguments) => infer Returned
      ? (...args: Arguments) => Promise<Returned>
      : never;
  };
  /** Ends the threads. What is under way, and what is called later, fails with `EngineError`. */
  close(): Promise<void>;
}

/**
 * An engine whose instances are in threads of their own (`node:worker_threads`): one that does not end is ended, and lost like
 * any other. The store stays in the thread that calls this, and is called there.
 *
 * @throws Refused where a setting is unknown or has a bad value, or the store fails
 */
export function createGuardedEngine(options: GuardedEngineOptions): Promise<GuardedEngine>;
