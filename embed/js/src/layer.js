import { Input, Output } from "./side.js";

// As in `host/src/runner`, in bytes and milliseconds.
/** The longest line of each side. */
const LONGEST = { client: 16 << 20, agent: 64 << 20 };
/** Replays may fill what waits for the client up to here. */
const CLIENT_ROOM = 256 << 10;
/** With more than this waiting for one side, nothing more is taken from the other. */
const HIGH_WATER = 4 << 20;
/** With more than this waiting for it, nothing more is taken from a client that asks and does not read the answers.
 * More than the longest line of an agent: a client that waits for us to read before it reads itself gets by with less. */
const CLIENT_MOST = 68 << 20;
/** With more than this waiting for the agent, nothing more is pulled. */
const AGENT_MOST = 80 << 20;
/** With more than this of a side that the engine was not given yet, no more is read of it. */
const INBOX_MOST = 1 << 20;
/** What a client that has gone may still read is waited for this long, and so is the end of an agent that somebody waits for. */
const HASTE = 500;
/** How long an agent may take to end once its input is closed. */
const AGENT_GRACE = 10_000;
/** After this long at work without a pause, others get their turn. */
const BREATH = 50;

/** Puts an engine between a client and an agent. See `index.d.ts`. */
export function sessionLayer(engine, { client, agent, agentGrace } = {}) {
  const [forClient, forAgent] = [client ? {} : pair(), agent ? {} : pair()];
  // Who speaks through a pair of ours may never close it.
  const grace = agentGrace ?? (agent ? AGENT_GRACE : HASTE);
  const layer = new Layer(engine, client ?? forClient.inner, agent ?? forAgent.inner, grace);
  return { client: forClient.outer, agent: forAgent.outer, closed: layer.run(), close: () => layer.close() };
}

/** Two streams of messages, each of which reads what is written to the other. */
function pair() {
  const [there, back] = [new TransformStream(), new TransformStream()];
  return {
    inner: { readable: there.readable, writable: back.writable },
    outer: { readable: back.readable, writable: there.writable },
  };
}

/** One pump, which does one thing after the other: nothing that arrives overtakes what arrived before it. */
class Layer {
  #engine;
  #from;
  #to;
  #grace;
  /** What came and the engine was not given yet, and how many units of it are of each side. */
  #arrivals = [];
  #inbox = { client: 0, agent: 0 };
  /** What the engine has said that it has, as its last step says. */
  #inside = { more: false, held: false, full: false };
  /** When the engine is to be told that time has passed. */
  #due;
  /** Who ended first. */
  #end;
  #isStopped = false;
  #isClientGone = false;
  /** It has gone, and the engine does not know yet. */
  #isClientLeaving = false;
  /** By when the client is left, and by when the agent has ended. */
  #leaveClient = Infinity;
  #leaveAgent = Infinity;
  #isWoken = false;
  #wake = () => {};
  #rested = performance.now();

  constructor(engine, client, agent, grace) {
    const wake = () => this.#woken();
    [this.#engine, this.#grace] = [engine, grace];
    this.#arrived();
    this.#to = { client: new Output(client.writable, client.bytes, wake), agent: new Output(agent.writable, agent.bytes, wake) };
    const input = (peer, { readable }) => new Input(readable, LONGEST[peer], (contents) => this.#take(peer, contents), wake);
    this.#from = { client: input("client", client), agent: input("agent", agent) };
    this.#listen();
  }

  /** Resolves when both sides have been told that it is over. */
  async run() {
    let failure;
    try {
      await this.#serve();
    } catch (error) {
      failure = error;
      // Whoever asked what the engine failed at is told.
      for (const output of error?.outputs ?? []) this.#send(output);
    }
    const by = this.#end ?? "layer";
    const error = by === "layer" ? undefined : this.#from[by].error;
    for (const peer of ["client", "agent"]) {
      this.#from[peer].refuse();
      this.#to[peer].close();
    }
    const last = setTimeout(() => [this.#to.client, this.#to.agent].forEach((output) => output.leave()), HASTE);
    await Promise.all([this.#to.client.done, this.#to.agent.done]);
    clearTimeout(last);
    if (failure) throw failure;
    return { by, error };
  }

  /** Ends the connection. */
  close() {
    this.#isStopped = true;
    this.#woken();
  }

  async #serve() {
    for (;;) {
      if (this.#due <= performance.now()) await this.#passTime();
      if (this.#arrivals.length > 0) await this.#receive();
      else if (this.#isMoreToPull()) await this.#pump();
      if (this.#arrivals.length === 0 && (await this.#isOver())) return;
      this.#listen();
      await this.#rest();
    }
  }

  /** What came of a side. */
  #take(peer, contents) {
    for (const content of contents) {
      this.#arrivals.push({ peer, content });
      this.#inbox[peer] += content.val.length;
    }
    this.#from[peer].want(this.#wants(peer));
    this.#woken();
  }

  /**
   * A side is not read while the other does not keep up. The agent is never kept from speaking by what waits for itself: it
   * may have to finish speaking before it reads. A client that is left keeps nobody.
   */
  #wants(peer) {
    if (this.#inbox[peer] > INBOX_MOST) return false;
    const { client, agent } = this.#to;
    if (peer === "agent") return client.isClosed || client.queued <= HIGH_WATER;
    return !this.#inside.full && client.queued <= CLIENT_MOST && agent.queued <= HIGH_WATER;
  }

  #listen() {
    for (const peer of ["client", "agent"]) this.#from[peer].want(this.#wants(peer));
  }

  async #receive() {
    const arrivals = this.#arrivals.splice(0);
    this.#inbox = { client: 0, agent: 0 };
    this.#arrived();
    this.#do(await this.#engine.receive(arrivals, this.#room()));
  }

  async #pump() {
    this.#do(await this.#engine.pull(this.#room()));
  }

  async #passTime() {
    const again = await this.#engine.idle();
    this.#due = again === undefined ? undefined : performance.now() + again;
    await this.#pump();
  }

  /** The engine is told that time has passed within the time in which what arrived is to be written. */
  #arrived() {
    this.#due = Math.min(this.#due ?? Infinity, performance.now() + this.#engine.flushMs);
  }

  async #close(peer) {
    await this.#engine.peerClosed(peer);
    await this.#pump();
  }

  #do({ outputs, more, held, full }) {
    for (const output of outputs) this.#send(output);
    this.#inside = { more, held, full };
  }

  #send({ tag, val }) {
    this.#to[tag === "to-client" ? "client" : "agent"].push(val);
  }

  #room() {
    return Math.max(0, CLIENT_ROOM - this.#to.client.queued);
  }

  /** Whether so much was read that the engine may go on with a replay. */
  #isMoreToPull() {
    return this.#inside.more && this.#to.client.queued < CLIENT_ROOM / 2 && this.#to.agent.queued <= AGENT_MOST;
  }

  /** Takes the steps towards the end that are due, all that came having been done. Returns whether none are left. */
  async #isOver() {
    const now = performance.now();
    const { client, agent } = this.#from;
    if (this.#isStopped) {
      this.#end ??= "layer";
      this.#leaveAgent = Math.min(this.#leaveAgent, now + HASTE);
    }
    if (!this.#isClientGone && (this.#isStopped || client.hasEnded || this.#to.client.isDeaf)) {
      this.#end ??= "client";
      [this.#isClientGone, this.#isClientLeaving] = [true, true];
      client.refuse();
      this.#leaveClient = now + HASTE;
      this.#leaveAgent = Math.min(this.#leaveAgent, now + this.#grace);
    }
    // Where the layer is closed, the client is told first what becomes of what it has asked: it is left when the agent has been.
    if (this.#isStopped) this.#leaveClient = Infinity;
    const isClientLeft = this.#leaveClient <= now;
    if (isClientLeft) {
      this.#leaveClient = Infinity;
      this.#to.client.leave();
    }
    // What it has sent before it left is done first, as long as it may read the answers. What waits for the agent longer than that is for
    // nobody: it need not keep that from the end of its input.
    if (this.#isClientLeaving && (!this.#inside.held || isClientLeft || this.#isStopped)) {
      this.#isClientLeaving = false;
      await this.#close("client");
      this.#to.agent.close();
    }
    // Who does not listen any more may still be speaking.
    if (this.#to.agent.isDeaf) this.#leaveAgent = Math.min(this.#leaveAgent, now + HASTE);
    if (!agent.hasEnded && now < this.#leaveAgent) return false;
    this.#end ??= "agent";
    await this.#close("agent");
    await this.#close("client");
    return true;
  }

  #woken() {
    this.#isWoken = true;
    this.#wake();
  }

  /** Until something happens or something is due; and where much is happening, for others to get their turn. */
  async #rest() {
    const now = performance.now();
    if (this.#isWoken || this.#isMoreToPull()) {
      this.#isWoken = false;
      if (now - this.#rested < BREATH) return;
      await new Promise((resolve) => setTimeout(resolve));
    } else {
      const due = Math.min(this.#due ?? Infinity, this.#leaveClient, this.#leaveAgent);
      let timer;
      await new Promise((resolve) => {
        this.#wake = resolve;
        if (due < Infinity) timer = setTimeout(resolve, Math.max(0, due - now));
      });
      clearTimeout(timer);
      this.#isWoken = false;
    }
    this.#rested = performance.now();
  }
}
