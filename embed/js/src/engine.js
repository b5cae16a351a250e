import { ARGUMENTS, TYPED } from "./arguments.js";
import { newInstance } from "./instance.js";
import { bytes, compare } from "./order.js";
import { refusals } from "./refusals.js";
import { ends, joined } from "./shortened.js";

/** How often in a row an instance is replaced without anything new having arrived. */
const MOST_RESTARTS = 3;
/** What an instance may say that nobody has read, and have kept, in bytes: more is as good as a trap. */
const LIMITS = { output: 256 << 20, memos: 256 << 20 };

/** How long what streams in may wait to be written, where no setting says so: in milliseconds. */
const FLUSH_MS = 100;

/** The engine cannot go on: it was lost again and again. */
export class EngineError extends Error {
  name = "EngineError";
  /** What is to be sent before the end: who asked what the engine failed at is told. */
  outputs = [];
}

/** What was asked for was refused: `tag` says by which error of the WIT. */
export class Refused extends Error {
  name = "Refused";

  constructor({ tag, val }) {
    super(val === undefined ? tag : `${tag}: ${val}`);
    this.tag = tag;
  }
}

/** What opens connections, by what loads the bindings here. See `index.d.ts`. */
export function creating(load) {
  let bindings;
  return async function createEngine({ store, settings, now = Date.now, random = fillRandom, warn, limits, folders }) {
    bindings ??= load();
    const loaded = await bindings;
    const make = () => {
      const instance = newInstance(loaded, store, now, random, folders);
      return { call: (place, name, args) => instance[place][name](...args), end: () => {} };
    };
    const connection = new Connection(make, settings, warn, limits);
    run(connection.open());
    return facade(connection, make, run);
  };
}

/** Fills with random bytes that nobody can guess. */
export function fillRandom(buffer) {
  crypto.getRandomValues(buffer);
}

/** What an embedder has: the functions of a connection, and the typed ones, by what runs the steps of either. */
export function facade(connection, make, run, runTyped = run) {
  const engine = { flushMs: connection.flushMs, sessions: typed(make, runTyped) };
  for (const name of ["receive", "pull", "peerClosed", "agentRestarted", "idle"]) {
    engine[name] = (...args) => run(connection.perform(name, ...args));
  }
  return engine;
}

/** Runs what is told step by step, each of which is a call of an instance that returns at once. */
function run(steps) {
  let step = steps.next();
  while (!step.done) {
    let value;
    try {
      value = step.value();
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(value);
  }
  return step.value;
}

/**
 * The engine of one connection, which outlives its instances: a trap, and an exception of the store, makes an instance
 * useless, so all that it must not forget is kept out here. As `host/src/engine.rs`.
 *
 * Its functions are generators of the calls that are to be made, so that they serve where a call returns at once and
 * where it has to be waited for.
 */
export class Connection {
  #make;
  #settings;
  #warn;
  #limits;
  /** None once it cannot be replaced. */
  #instance;
  #kept = new Map();
  #keptBytes = 0;
  /** Given to the instance, and what follows from it was not pulled yet. */
  #unfinished = [];
  #closed = [];
  /** How the agent has ended that was started again, while what follows from that was not pulled yet. */
  #restarted;
  #losses = 0;
  /** The requests among what is unfinished, as long as it may come to be dropped; and those that were. */
  #asked = [];
  #refused = [];

  constructor(make, settings = {}, warn = () => {}, limits = {}) {
    [this.#make, this.#warn, this.#limits] = [make, warn, { ...LIMITS, ...limits }];
    this.#settings = Object.entries(settings).map(([name, value]) => ({ name, value: String(value) }));
  }

  get flushMs() {
    return Number(this.#settings.find(({ name }) => name === "flush-ms")?.value ?? FLUSH_MS);
  }

  /** To be run before all others, once. */
  *open() {
    const instance = this.#make();
    try {
      yield* refusing(() => instance.call("connection", "connect", [this.#settings, [], []]));
    } catch (error) {
      instance.end();
      throw error;
    }
    this.#instance = instance;
  }

  /** Nothing more comes. */
  close() {
    this.#instance?.end();
    this.#instance = undefined;
  }

  /**
   * Does one of what follows, unless it is called with something else than it takes. An instance that says by `ended` that it went while
   * nothing was asked of it is replaced first: what is asked now was not under way in it.
   */
  *perform(name, ...given) {
    const args = ARGUMENTS[name](...given);
    if (this.#instance?.ended) {
      this.#losses = 0;
      yield* this.#replace(this.#instance.ended);
    }
    return yield* this[name](...args);
  }

  *receive(arrivals, clientRoom) {
    this.#losses = 0;
    const received = yield* this.#call("receive", arrivals, clientRoom);
    // Until what follows is taken: that may be too much.
    this.#unfinished = arrivals;
    return yield* this.#takeStep(received, clientRoom);
  }

  *pull(clientRoom) {
    return yield* this.#takeStep(yield* this.#call("pull", clientRoom), clientRoom);
  }

  *peerClosed(peer) {
    if (this.#closed.includes(peer)) return;
    this.#closed.push(peer);
    yield* this.#recover(yield* this.#call("peerClosed", peer));
  }

  *agentRestarted(how) {
    const told = yield* this.#call("agentRestarted", how);
    this.#restarted = how;
    yield* this.#recover(told);
  }

  *idle() {
    return yield* this.#recover(yield* this.#call("idle"));
  }

  /** What a call returns, or with what the instance was lost in it. */
  *#call(name, ...args) {
    const instance = this.#instance;
    if (!instance) throw new EngineError("the session engine was lost before");
    try {
      return { value: yield () => instance.call("connection", name, args) };
    } catch (lost) {
      return { lost };
    }
  }

  /** What a call says is to be done; where the instance was lost in it, what the next one says. */
  *#takeStep(called, clientRoom) {
    for (;;) {
      if (!called.lost && !this.#isBounded(called.value)) {
        called = { lost: new RangeError("it says or keeps more than it may") };
      }
      const step = yield* this.#recover(called);
      if (step) return this.#taken(step);
      called = yield* this.#call("pull", clientRoom);
    }
  }

  #taken(step) {
    // All that follows from what was received is in it; what comes later is replays, and the memos tell of those.
    [this.#unfinished, this.#asked, this.#restarted] = [[], [], undefined];
    const outputs = [];
    for (const output of step.outputs) {
      if (output.tag === "keep") this.#keep(output.val);
      else if (output.tag === "warn") this.#warn(output.val);
      else outputs.push(output);
    }
    return { ...step, outputs: outputs.concat(this.#refused.splice(0)) };
  }

  #keep({ key, value }) {
    const before = this.#kept.get(key);
    if (before !== undefined) this.#keptBytes -= bytes(key) + bytes(before);
    this.#kept.delete(key);
    if (value === undefined) return;
    this.#kept.set(key, value);
    this.#keptBytes += bytes(key) + bytes(value);
  }

  #isBounded({ outputs }) {
    let [said, kept] = [0, this.#keptBytes];
    for (const { tag, val } of outputs) {
      if (tag === "keep") kept += bytes(val.key) + bytes(val.value ?? "");
      else said += bytes(val);
    }
    return said <= this.#limits.output && kept <= this.#limits.memos;
  }

  /** What a call returned; nothing if the instance was lost in it and another has taken its place. */
  *#recover(called) {
    if (!called.lost) return called.value;
    yield* this.#replace(called.lost);
    return undefined;
  }

  *#replace(lost) {
    for (;;) {
      // It was closed meanwhile.
      if (lost instanceof EngineError) throw lost;
      this.#losses++;
      this.#warn(`the session engine is started anew (${this.#losses}): ${lost?.message ?? lost}`);
      this.#instance?.end();
      this.#instance = undefined;
      if (this.#losses > MOST_RESTARTS) {
        const text = `the session engine failed ${MOST_RESTARTS + 1} times in a row: ${lost?.message ?? lost}`;
        throw Object.assign(new EngineError(text, { cause: lost }), { outputs: this.#refused.splice(0) });
      }
      if (this.#losses > 1) this.#shorten();
      const instance = this.#make();
      try {
        yield* this.#takeUp(instance);
      } catch (again) {
        instance.end();
        if (again instanceof Refused) throw again;
        lost = again;
        continue;
      }
      this.#instance = instance;
      return;
    }
  }

  /**
   * What the next instance is told of lines that one was lost with as it was told of them: their beginnings and ends, which
   * tell whose request fails. Of those nothing: who asked is answered here.
   */
  #shorten() {
    if (this.#unfinished.every(({ content }) => content.tag === "not-bearable")) {
      if (this.#unfinished.length > 0) this.#warn(`${this.#unfinished.length} lines were dropped`);
      this.#unfinished = [];
      this.#refused.push(...this.#asked.splice(0));
      return;
    }
    // Of these it cannot be told what was asked.
    this.#asked = refusals(this.#unfinished);
    this.#unfinished = this.#unfinished.map(({ peer, content }) => ({
      peer,
      content: { tag: "not-bearable", val: shortened(content.val) },
    }));
  }

  *#takeUp(instance) {
    const kept = [...this.#kept].sort(([a], [b]) => compare(a, b)).map(([key, value]) => ({ key, value }));
    const call = (name, ...args) => () => instance.call("connection", name, args);
    yield* refusing(call("connect", this.#settings, kept, this.#unfinished));
    if (this.#restarted !== undefined) yield call("agentRestarted", this.#restarted);
    for (const peer of this.#closed) yield call("peerClosed", peer);
  }
}

/** One call; an error of the WIT is thrown as what it is, and anything else as it comes. */
function* refusing(call) {
  try {
    return yield call;
  } catch (error) {
    throw error?.payload ? new Refused(error.payload) : error;
  }
}

/** The typed interface, on an instance of its own; one that is lost is replaced with the next call. */
function typed(make, run) {
  let instance;
  function* call(name, given) {
    const args = TYPED[name](...given);
    if (instance?.ended) instance = undefined;
    const used = (instance ??= make());
    try {
      return yield* refusing(() => used.call("sessions", name, args));
    } catch (error) {
      if (error instanceof Refused) throw error;
      used.end();
      if (instance === used) instance = undefined;
      throw new EngineError(`the session engine failed at ${name}: ${error?.message ?? error}`, { cause: error });
    }
  }
  return Object.fromEntries(Object.keys(TYPED).map((name) => [name, (...args) => run(call(name, args))]));
}

/** The beginning of a line and its end. What is over the limit is shortened already, which a line feed tells. */
function shortened(text) {
  return text.includes("\n") ? text : joined(ends(text));
}
