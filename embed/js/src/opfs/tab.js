import { EngineError } from "../engine.js";
import { OpenError } from "../sqlite/errors.js";
import { channelOf, gone, hold, lifeOf, scopeOf, startingOf, unshared } from "./names.js";

/** The worker that had the store open has gone, and what it was at with it. */
export class Gone extends Error {
  name = "Gone";

  constructor() {
    super("the tab that had the session store open has gone");
  }
}

/** A tab, or a worker of the page's own, that uses a store: it knows who has the store open, and has its engines there. */
export class Tab {
  /** Whether it is the worker of this tab that has the store open. */
  holds = false;
  #name;
  #scope;
  #library;
  #milliseconds;
  #id = crypto.randomUUID();
  #release;
  #all;
  #own;
  #worker;
  #workerId;
  /** Says that the worker is in line for the store, or never will be. */
  #noteInLine = () => {};
  /** The worker that has the store open, as far as is known. */
  #holder;
  /** Who waits for one. */
  #waiting = [];
  #instances = new Set();
  #calls = new Map();
  #count = 0;
  #closed;

  constructor(name, library, milliseconds) {
    [this.#name, this.#scope, this.#library, this.#milliseconds] = [name, scopeOf(name), library, milliseconds];
  }

  /** To be done before all else. Comes when the store is open somewhere. */
  async open() {
    this.#release = await hold(lifeOf(this.#scope, this.#id));
    this.#own = new BroadcastChannel(channelOf(this.#scope, this.#id));
    this.#own.onmessage = ({ data }) => (data.holder ? this.#welcomed(data) : this.#settle(data));
    this.#all = new BroadcastChannel(this.#scope);
    this.#all.onmessage = ({ data: { holder, late } }) => {
      if (holder) this.#hello();
      if (late) this.#endLate(late);
    };
    this.#hello();
    this.#work();
    await this.#held();
  }

  close() {
    this.#closed ??= new EngineError("the session store was closed");
    this.#worker?.terminate();
    this.#noteInLine();
    this.#release?.();
    this.#all?.close();
    this.#own?.close();
    this.#lose(this.#closed);
    for (const { reject } of this.#waiting.splice(0)) reject(this.#closed);
  }

  /** An instance of the engine, wherever the store is open when it is called first; `forget` is told of its end. */
  instance(forget) {
    if (this.#closed) throw this.#closed;
    const instance = new Instance(++this.#count, this.#held.bind(this), this.#send.bind(this), () => {
      this.#instances.delete(instance);
      forget(instance);
    });
    this.#instances.add(instance);
    return instance;
  }

  /** Has the store do something that an engine does not. */
  async inStore(name, ...args) {
    return this.#send(await this.#held(), { call: { place: "store", name, args } });
  }

  #hello() {
    this.#all.postMessage({ hello: this.#id });
  }

  /**
   * This tab's own worker, which has the store open when its turn has come; and another one when that ends, unless it could not
   * open it: then when the store is needed and nobody has it open.
   */
  #work() {
    const id = crypto.randomUUID();
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: this.#scope });
    const starting = hold(startingOf(this.#scope), "shared");
    const noteInLine = () => starting.then((release) => release());
    [this.#worker, this.#workerId, this.#noteInLine] = [worker, id, noteInLine];
    let [isAlive, refused] = [false, undefined];
    worker.onmessage = async ({ data }) => {
      if (data === "inLine") noteInLine();
      if (data === "holds") this.holds = true;
      if (data.refused) refused = new OpenError(data.refused.reason ?? "open", data.refused.text);
      if (data !== "alive") return;
      isAlive = true;
      await gone(lifeOf(this.#scope, id));
      worker.terminate();
      noteInLine();
      this.holds = false;
      if (this.#closed) return;
      if (refused) this.#couldNot(refused);
      else this.#work();
    };
    worker.onerror = ({ message }) => {
      if (isAlive) return;
      noteInLine();
      this.#couldNot(new OpenError("open", `the session store's worker cannot be started: ${message ?? "its script is not there"}`));
    };
    worker.postMessage({ name: this.#name, id, library: this.#library });
  }

  /** Its worker cannot open the store. Where those of other tabs could not either, there is nothing to wait for. */
  async #couldNot(why) {
    this.#worker = undefined;
    await unshared(startingOf(this.#scope));
    await gone(this.#scope);
    if (this.#worker) return;
    for (const { reject } of this.#waiting.splice(0)) reject(why);
  }

  #welcomed({ holder }) {
    if (holder !== this.#holder) {
      this.#lose(new Gone());
      this.#holder = holder;
      gone(lifeOf(this.#scope, holder)).then(() => this.#went(holder));
    }
    for (const { resolve } of this.#waiting.splice(0)) resolve(holder);
  }

  /** The worker that had the store open has gone. What is asked from now on waits for the next one. */
  #went(holder) {
    if (this.#closed || holder !== this.#holder) return;
    this.#holder = undefined;
    this.#lose(new Gone());
  }

  /** What was in the worker that had the store open is lost. */
  #lose(why) {
    for (const instance of this.#instances) if (instance.holder !== undefined) instance.ended ??= why;
    for (const { reject, timer } of this.#calls.values()) {
      clearTimeout(timer);
      reject(why);
    }
    this.#calls.clear();
  }

  /** A call takes longer than it may: whoever has started the worker ends it, and the next one takes over. */
  #tooLong(worker) {
    this.#endLate(worker);
    this.#all.postMessage({ late: worker });
  }

  #endLate(worker) {
    if (worker === this.#workerId) this.#worker?.terminate();
  }

  /** The worker that has the store open, once there is one. */
  #held() {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(this.#closed);
      if (this.#holder) return resolve(this.#holder);
      this.#waiting.push({ resolve, reject });
      if (!this.#worker) this.#work();
    });
  }

  /** Asks the worker that has the store open. */
  #send(to, { call, end }) {
    if (this.#closed) return end === undefined ? Promise.reject(this.#closed) : undefined;
    if (end !== undefined) return void this.#own.postMessage({ to, end });
    const nth = ++this.#count;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#tooLong(to), this.#milliseconds);
      this.#calls.set(nth, { resolve, reject, timer });
      this.#own.postMessage({ to, call: { nth, ...call } });
    });
  }

  #settle({ from, nth, value, payload, lost }) {
    const call = from === this.#holder ? this.#calls.get(nth) : undefined;
    if (!call) return;
    this.#calls.delete(nth);
    clearTimeout(call.timer);
    if (payload) call.reject(Object.assign(new Error("refused"), { payload }));
    else if (lost !== undefined) call.reject(new Error(lost));
    else call.resolve(value);
  }
}

/** An instance of the engine in the worker that has the store open. */
class Instance {
  /** Which worker that is. */
  holder;
  /** Why there is nothing to be called any more. */
  ended;
  #number;
  #held;
  #send;
  #forget;

  constructor(number, held, send, forget) {
    [this.#number, this.#held, this.#send, this.#forget] = [number, held, send, forget];
  }

  async call(place, name, args) {
    const held = await this.#held();
    if (this.ended) throw this.ended;
    this.holder ??= held;
    return this.#send(held, { call: { instance: this.#number, place, name, args } });
  }

  end(why = new EngineError("the session engine was closed")) {
    this.#forget();
    if (this.holder !== undefined && !this.ended) this.#send(this.holder, { end: this.#number });
    this.ended ??= why;
  }
}
