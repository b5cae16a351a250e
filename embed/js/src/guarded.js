import { MessageChannel, Worker } from "node:worker_threads";

import { Connection, EngineError, facade, fillRandom } from "./engine.js";
import { inTurn } from "./in-turn.js";
import { ABOUT_FOLDERS, atOnce } from "./instance.js";
import { load } from "./load.js";

/** How long a call may take, in milliseconds. */
const MILLISECONDS = 60_000;

let usual;

/** Opens a connection over a store, with a deadline for each call. See `guarded.d.ts`. */
export async function createGuardedEngine({ store, settings, now, random, warn, limits, folders, milliseconds = MILLISECONDS, folder }) {
  const { modules, folder: from } = await (folder ? load(folder) : (usual ??= load()));
  const instances = new Set();
  let isClosed = false;
  const make = () => {
    if (isClosed) throw new EngineError("the session engine was closed");
    const instance = new Guarded({ modules, folder: String(from), store, now, random, folders, milliseconds }, () => instances.delete(instance));
    instances.add(instance);
    return instance;
  };
  const connection = new Connection(make, settings, warn, limits);
  const [run, runTyped] = [inTurn(), inTurn()];
  await run(connection.open());
  const engine = facade(connection, make, run, runTyped);
  engine.close = async () => {
    isClosed = true;
    connection.close();
    for (const instance of instances) instance.end();
  };
  return engine;
}

/**
 * An instance in a thread of its own, which ends it where a call takes too long. The store stays here: the thread asks for
 * it and waits.
 */
class Guarded {
  #worker;
  #milliseconds;
  /** The call that is under way: what to do with its end. */
  #pending;
  #ready = false;
  /** Is told that it has ended. */
  #forget;
  /** Why there is nothing to be called any more. */
  #ended;

  constructor({ modules, folder, store, now, random, folders, milliseconds }, ended) {
    [this.#milliseconds, this.#forget] = [milliseconds, ended];
    const { port1: port, port2 } = new MessageChannel();
    const signal = new Int32Array(new SharedArrayBuffer(4));
    const knows = ABOUT_FOLDERS.filter((name) => folders?.[name]);
    const workerData = { modules, folder, port: port2, signal, asksNow: now !== undefined, asksRandom: random !== undefined, knows };
    this.#worker = new Worker(new URL("./thread.js", import.meta.url), { workerData, transferList: [port2] });
    const lent = { now, random: (length) => filled(random ?? fillRandom, length) };
    for (const name of knows) lent[name] = (...args) => atOnce(name, folders[name](...args));
    port.on("message", ({ name, args }) => {
      answer(port, () => (lent[name] ? lent[name](...args) : atOnce(name, store[name](...args))));
      Atomics.store(signal, 0, 1);
      Atomics.notify(signal, 0);
    });
    this.#worker.on("message", (answered) => (answered.ready ? this.#begin() : this.#settle(answered)));
    this.#worker.on("error", (error) => this.end(error));
    this.#worker.on("exit", () => {
      port.close();
      this.end(new Error("the thread of the engine has ended"));
    });
    // What waits for nothing keeps no program from its end.
    this.#worker.unref();
    port.unref();
  }

  call(place, name, args) {
    return new Promise((resolve, reject) => {
      if (this.#ended) return void reject(this.#ended);
      this.#pending = { resolve, reject, call: { place, name, args } };
      this.#worker.ref();
      if (this.#ready) this.#begin();
    });
  }

  /** Makes the call that is to be made. What the thread takes to start is not the call's. */
  #begin() {
    this.#ready = true;
    if (!this.#pending) return;
    const late = () => this.end(new Error(`a call took longer than ${this.#milliseconds} ms`));
    this.#pending.timer = setTimeout(late, this.#milliseconds);
    this.#worker.postMessage(this.#pending.call);
  }

  #settle({ value, payload, lost }) {
    const pending = this.#pending;
    if (!pending) return;
    this.#pending = undefined;
    clearTimeout(pending.timer);
    this.#worker.unref();
    if (payload) pending.reject(Object.assign(new Error("refused"), { payload }));
    else if (lost !== undefined) pending.reject(lost instanceof Error ? lost : new Error(lost));
    else pending.resolve(value);
  }

  /** Nothing is called any more; what is under way is lost. */
  end(why = new EngineError("the session engine was closed")) {
    this.#ended ??= why;
    this.#forget();
    this.#worker.terminate();
    this.#settle({ lost: this.#ended });
  }
}

/** Tells the thread what the store returns or throws; what goes to no other thread is thrown here, too. */
function answer(port, call) {
  try {
    port.postMessage({ value: call() });
  } catch (error) {
    port.postMessage(error?.payload ? { payload: error.payload } : { lost: String(error?.message ?? error) });
  }
}

function filled(random, length) {
  const bytes = new Uint8Array(length);
  random(bytes);
  return bytes;
}
