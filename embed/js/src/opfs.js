import { Connection, EngineError, facade } from "./engine.js";
import { inTurn } from "./in-turn.js";
import { Gone, Tab } from "./opfs/tab.js";
import { OpenError } from "./sqlite/errors.js";
import { StorageError } from "./storage-error.js";

export { OpenError };

/** How long a call may take, in milliseconds. */
const MILLISECONDS = 60_000;

/** How often what can be done twice is begun anew where workers go. */
const MOST_AGAIN = 3;

/** The functions of the typed interface that only read. */
const READING = [
  "listSessions",
  "changesSince",
  "getSession",
  "readTranscript",
  "readSetAside",
  "listUsage",
  "readTurnUsage",
  "readPermissions",
];

/** See `opfs.d.ts`. */
export async function openOpfs(name = "sessions", { library = resolved(), milliseconds = MILLISECONDS } = {}) {
  if (!/^[\w-]{1,64}$/.test(name)) throw new TypeError(`${name} is no name for a store: letters, digits, _ and - are, up to 64 of them`);
  if (!globalThis.navigator?.locks || !navigator.storage?.getDirectory || !globalThis.Worker || !globalThis.BroadcastChannel) {
    throw new OpenError("no-opfs", "this is no page of a browser with a private file system and locks, or not in a secure context");
  }
  const tab = new Tab(name, library && String(library), milliseconds);
  try {
    await tab.open();
  } catch (error) {
    tab.close();
    throw error;
  }
  return new OpfsStore(tab);
}

/** Does in the next worker what the one before has not come to the end of: what can be done twice, unless it is that which they end of. */
function again(what) {
  return async (...args) => {
    for (let left = MOST_AGAIN; ; left--) {
      try {
        return await what(...args);
      } catch (error) {
        if (left === 0 || !(error instanceof Gone || error.cause instanceof Gone)) throw error;
      }
    }
  };
}

/** Where a page's import map has SQLite's module: a worker has no map of its own. */
function resolved() {
  try {
    return import.meta.resolve("@sqlite.org/sqlite-wasm");
  } catch {
    return undefined;
  }
}

class OpfsStore {
  #tab;

  constructor(tab) {
    this.#tab = tab;
  }

  get holds() {
    return this.#tab.holds;
  }

  async createEngine({ settings, warn, limits } = {}) {
    const instances = new Set();
    let isClosed = false;
    const make = () => {
      if (isClosed) throw new EngineError("the session engine was closed");
      const instance = this.#tab.instance(() => instances.delete(instance));
      instances.add(instance);
      return instance;
    };
    const connection = new Connection(make, settings, warn, limits);
    const [run, runTyped] = [inTurn(), inTurn()];
    await again(() => run(connection.open()))();
    const engine = facade(connection, make, run, runTyped);
    for (const name of READING) engine.sessions[name] = again(engine.sessions[name]);
    engine.close = async () => {
      isClosed = true;
      connection.close();
      for (const instance of instances) instance.end();
    };
    return engine;
  }

  clean() {
    return again(async () => {
      try {
        return await this.#tab.inStore("clean");
      } catch (error) {
        throw error?.payload ? new StorageError(error.payload.tag, error.payload.val) : error;
      }
    })();
  }

  close() {
    this.#tab.close();
  }
}
