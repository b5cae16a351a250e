import { newInstance } from "./instance.js";
import { load } from "./load.js";
import { bytes, compare } from "./order.js";
import { refusals } from "./refusals.js";

/** An instance that is lost this often without anything new having arrived is not started again. */
const MOST_LOSSES = 3;
/** How much of a line at which instances are lost the next one is told, in UTF-16 units. */
const HEAD = 4096;
/** Room for whatever comes. */
const ANY_ROOM = 0xffffffff;
/** What an instance may say that nobody has read, and have kept, in bytes: more is as good as a trap. */
const LIMITS = { output: 256 << 20, memos: 256 << 20 };

/** The engine cannot go on: it was lost again and again. */
export class EngineError extends Error {
  name = "EngineError";
}

/** What was asked for was refused: `tag` says by which error of the WIT. */
export class Refused extends Error {
  name = "Refused";

  constructor({ tag, val }) {
    super(val === undefined ? tag : `${tag}: ${val}`);
    this.tag = tag;
  }
}

let bindings;

/** Opens a connection over a store. See `index.d.ts`. */
export async function createEngine({ store, settings = {}, now = Date.now, random = fillRandom, warn = () => {}, limits }) {
  bindings ??= load();
  const loaded = await bindings;
  const make = () => newInstance(loaded, store, now, random);
  const named = Object.entries(settings).map(([name, value]) => ({ name, value: String(value) }));
  return new Engine(make, named, warn, { ...LIMITS, ...limits });
}

function fillRandom(buffer) {
  crypto.getRandomValues(buffer);
}

/**
 * The engine of one connection, which outlives its instances: a trap, and an exception of the store, makes an instance
 * useless, so all that it must not forget is kept out here. As `host/src/runner/engine.rs`.
 */
class Engine {
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

  constructor(make, settings, warn, limits) {
    Object.assign(this, { sessions: typed(make) });
    [this.#make, this.#settings, this.#warn, this.#limits] = [make, settings, warn, limits];
    const instance = make();
    refusing(() => instance.connection.connect(settings, [], []));
    this.#instance = instance;
  }

  receive(arrivals, clientRoom = ANY_ROOM) {
    this.#losses = 0;
    const received = this.#call((to) => to.receive(arrivals, clientRoom));
    // Until what follows is taken: that may be too much.
    this.#unfinished = arrivals;
    return this.#takeStep(received, clientRoom);
  }

  pull(clientRoom = ANY_ROOM) {
    return this.#takeStep(this.#call((to) => to.pull(clientRoom)), clientRoom);
  }

  peerClosed(peer) {
    if (this.#closed.includes(peer)) return;
    this.#closed.push(peer);
    this.#recover(this.#call((to) => to.peerClosed(peer)));
  }

  agentRestarted(how) {
    const told = this.#call((to) => to.agentRestarted(how));
    this.#restarted = how;
    this.#recover(told);
  }

  idle() {
    return this.#recover(this.#call((to) => to.idle()));
  }

  /** What a call returns, or with what the instance was lost in it. */
  #call(call) {
    if (!this.#instance) throw new EngineError("the session engine was lost before");
    try {
      return { value: call(this.#instance.connection) };
    } catch (lost) {
      return { lost };
    }
  }

  /** What a call says is to be done; where the instance was lost in it, what the next one says. */
  #takeStep(called, clientRoom) {
    for (;;) {
      if (!called.lost && !this.#isBounded(called.value)) {
        called = { lost: new RangeError("it says or keeps more than it may") };
      }
      const step = this.#recover(called);
      if (step) return this.#taken(step);
      called = this.#call((to) => to.pull(clientRoom));
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
  #recover(called) {
    if (!called.lost) return called.value;
    this.#replace(called.lost);
    return undefined;
  }

  #replace(lost) {
    for (;;) {
      this.#losses++;
      this.#warn(`the session engine is started anew (${this.#losses}): ${lost?.message ?? lost}`);
      this.#instance = undefined;
      if (this.#losses > MOST_LOSSES) {
        throw new EngineError(`the session engine failed ${MOST_LOSSES} times in a row: ${lost?.message ?? lost}`, {
          cause: lost,
        });
      }
      if (this.#losses > 1) this.#shorten();
      const instance = this.#make();
      try {
        this.#takeUp(instance);
      } catch (again) {
        if (again instanceof Refused) throw again;
        lost = again;
        continue;
      }
      this.#instance = instance;
      return;
    }
  }

  /**
   * What the next instance is told of lines that one was lost with as it was told of them: their beginnings, which tell whose
   * request fails. Of beginnings nothing: who asked is answered here.
   */
  #shorten() {
    if (this.#unfinished.every(({ content }) => content.tag === "not-bearable")) {
      if (this.#unfinished.length > 0) this.#warn(`${this.#unfinished.length} lines were dropped`);
      this.#unfinished = [];
      this.#refused.push(...this.#asked.splice(0));
      return;
    }
    // Of a beginning it cannot be told what was asked.
    this.#asked = refusals(this.#unfinished);
    this.#unfinished = this.#unfinished.map(({ peer, content }) => ({
      peer,
      content: { tag: "not-bearable", val: content.val.slice(0, HEAD) },
    }));
  }

  #takeUp({ connection }) {
    const kept = [...this.#kept].sort(([a], [b]) => compare(a, b)).map(([key, value]) => ({ key, value }));
    refusing(() => connection.connect(this.#settings, kept, this.#unfinished));
    if (this.#restarted !== undefined) connection.agentRestarted(this.#restarted);
    for (const peer of this.#closed) connection.peerClosed(peer);
  }
}

/** Runs; an error of the WIT is thrown as what it is, and anything else as it comes. */
function refusing(run) {
  try {
    return run();
  } catch (error) {
    throw error?.payload ? new Refused(error.payload) : error;
  }
}

/** The typed interface, on an instance of its own; one that is lost is replaced with the next call. */
function typed(make) {
  let instance;
  const call = (name, args) => {
    instance ??= make();
    try {
      return refusing(() => instance.sessions[name](...args));
    } catch (error) {
      if (error instanceof Refused) throw error;
      instance = undefined;
      throw new EngineError(`the session engine failed at ${name}: ${error?.message ?? error}`, { cause: error });
    }
  };
  const names = [
    "listSessions",
    "getSession",
    "readTranscript",
    "readSetAside",
    "renameSession",
    "archiveSession",
    "deleteSession",
    "finishDeletes",
    "pruneSessions",
    "checkStore",
  ];
  return Object.fromEntries(names.map((name) => [name, (...args) => call(name, args)]));
}
