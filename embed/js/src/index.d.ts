import type * as connection from "../bindings/types/interfaces/acp-sessions-connection.js";
import type * as folders from "../bindings/types/interfaces/acp-sessions-folders.js";
import type * as sessions from "../bindings/types/interfaces/acp-sessions-sessions.js";
import type * as storage from "../bindings/types/interfaces/acp-sessions-storage.js";
import type { Store } from "./memory.js";

export type { connection, sessions, storage };
export { MemoryStore, type Store } from "./memory.js";

/**
 * What is known of the folders that sessions are in, for whoever has a file system: the WIT tells of each in its interface `folders`. They are
 * called in the midst of a call of the engine's, which waits for them: what takes long is found out beside, `undefined` until it is known.
 * What is not there knows nothing.
 */
export interface Folders {
  worktrees?(cwd: string): string[] | undefined;
  repositoryOf?(cwd: string): folders.Repository | undefined;
}

/** What an engine is opened with. */
export interface EngineOptions {
  /** Where everything is kept. Several engines, also of other processes, may have the same store. */
  store: Store;
  /** Settings by name; the project's `docs/embedding.md` lists them. */
  settings?: Record<string, string | number>;
  /** The time in milliseconds since 1970; that of the system. */
  now?: () => number;
  /** Fills with random bytes that nobody can guess; that of the system. */
  random?: (bytes: Uint8Array) => void;
  /** Is told what went wrong that no peer can be told. */
  warn?: (text: string) => void;
  /** What is known of folders: nothing. */
  folders?: Folders;
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
 * @throws TypeError from any of these functions, where an argument is none that it takes; nothing has happened then
 * @throws EngineError from any of these functions, where four instances in a row were lost; the connection is at an end then
 */
export interface Engine {
  receive(arrivals: connection.Arrival[], clientRoom?: number): Step;
  pull(clientRoom?: number): Step;
  peerClosed(peer: connection.Peer): void;
  agentRestarted(how: string): void;
  idle(): number | undefined;
  /** After an arrival `idle` is to be called within so many milliseconds: the setting `flush-ms`. */
  readonly flushMs: number;
  /**
   * The typed interface. Its functions throw `Refused` with the error of the WIT, `TypeError` where an argument is none, and
   * `EngineError` where the engine was lost.
   */
  readonly sessions: typeof sessions;
}

/** @throws Refused where a setting is unknown or has a bad value, or the store fails */
export function createEngine(options: EngineOptions): Promise<Engine>;

export class EngineError extends Error {
  /** What is still to be sent: who asked what the engine failed at is told. */
  readonly outputs: Step["outputs"];
}

export class Refused extends Error {
  /** Which error of the WIT: `bad-setting`, `invalid`, `not-found`, `storage`, `not-yet`. */
  readonly tag: string;
}

/**
 * How a store says that it did not do what it was asked: an error of the WIT, which the engine answers or tries again.
 * Whatever else a store throws loses the instance.
 */
export class StorageError extends Error {
  constructor(tag: storage.StorageError["tag"], text?: string);
}

/**
 * The streams of one side: `readable` is what it says, `writable` what it is told. It may say messages as objects (as the official
 * SDK's `Stream` has them), lines as texts or lines as bytes. A message that came as an object has the numbers that `JSON.parse`
 * has made of it; between bytes and bytes all stays as it was written.
 */
export interface Side {
  readable: ReadableStream<unknown>;
  writable: WritableStream<any>;
  /** Whether it is told lines as bytes (`Uint8Array`), and not messages as objects. */
  bytes?: boolean;
}

/** A stream of messages, as the official SDK connects with. */
export interface MessageStream {
  readable: ReadableStream<any>;
  writable: WritableStream<any>;
}

/** The part of an engine that a layer drives: both kinds have it. */
export interface DrivenEngine {
  receive(arrivals: connection.Arrival[], clientRoom?: number): Step | Promise<Step>;
  pull(clientRoom?: number): Step | Promise<Step>;
  peerClosed(peer: connection.Peer): void | Promise<void>;
  idle(): number | undefined | Promise<number | undefined>;
  readonly flushMs: number;
}

/** What a layer is between. */
export interface LayerOptions {
  /** The client's streams; not there: the layer makes a pair, of which `client` is the other end. */
  client?: Side;
  /** The agent's streams; not there: the layer makes a pair, of which `agent` is the other end. */
  agent?: Side;
  /**
   * How long in milliseconds an agent may take to end its side when the client has gone: 10,000, and 500 where the layer has made the
   * pair, since the SDK never ends what it writes to.
   */
  agentGrace?: number;
}

/** How a connection ended: who ended first, and with what its stream failed, if it did. */
export interface LayerEnd {
  by: "client" | "agent" | "layer";
  error: unknown;
}

/** An engine at work between a client and an agent. */
export interface SessionLayer<Options extends LayerOptions = LayerOptions> {
  /** For the client to connect with, where none was given. */
  readonly client: Options extends { client: Side } ? undefined : MessageStream;
  /** For the agent to connect with, where none was given. */
  readonly agent: Options extends { agent: Side } ? undefined : MessageStream;
  /**
   * Comes when all that was said is stored and both sides were told that it is over. It fails with `EngineError` where the engine
   * could not go on.
   */
  readonly closed: Promise<LayerEnd>;
  /** Ends the connection: both sides are told, `closed` says when it is over. */
  close(): void;
}

/**
 * Puts an engine between a client and an agent, and drives it: what arrives is given to it in its order, what it says is sent,
 * it is told of time and of the ends. A side that does not read holds the other's stream: 4 MiB wait for each. The engine serves this
 * connection alone.
 */
export function sessionLayer<const Options extends LayerOptions = {}>(engine: DrivenEngine, options?: Options): SessionLayer<Options>;
