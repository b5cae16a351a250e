// The worker of a tab. Of all tabs' workers one has the store open, and the engines of all tabs are in it, since an engine calls its store
// and waits; the others wait for the lock that it holds.

import { fillRandom } from "../engine.js";
import { newInstance } from "../instance.js";
import { load } from "../load-web.js";
import { channelOf, gone, hold, lifeOf, scopeOf } from "./names.js";
import { open } from "./open.js";

addEventListener("message", ({ data }) => begin(data), { once: true });

async function begin({ name, id, library }) {
  const scope = scopeOf(name);
  await hold(lifeOf(scope, id));
  postMessage("alive");
  const turn = hold(scope);
  // Its answer tells that what was asked for before it has come to those who wait.
  await navigator.locks.query();
  postMessage("inLine");
  await turn;
  let holder;
  try {
    const [store, bindings] = await Promise.all([open(name, library), load()]);
    holder = new Holder(scope, id, store, bindings);
  } catch (error) {
    postMessage({ refused: { reason: error?.reason, text: String(error?.message ?? error) } });
    // The locks go with it: another tab's worker may be able to open it.
    return close();
  }
  postMessage("holds");
  const all = new BroadcastChannel(scope);
  all.onmessage = ({ data: { hello } }) => hello && holder.welcome(hello);
  // Who says hello from now on is heard, and who has said so before does it again.
  all.postMessage({ holder: id });
}

/** Has the store open. */
class Holder {
  #scope;
  #id;
  #store;
  #bindings;
  #tabs = new Map();

  constructor(scope, id, store, bindings) {
    [this.#scope, this.#id, this.#store, this.#bindings] = [scope, id, store, bindings];
  }

  /** A tab that is there. */
  welcome(id) {
    let tab = this.#tabs.get(id);
    if (!tab) {
      tab = { channel: new BroadcastChannel(channelOf(this.#scope, id)), instances: new Map() };
      this.#tabs.set(id, tab);
      tab.channel.onmessage = ({ data }) => this.#take(tab, data);
      gone(lifeOf(this.#scope, id)).then(() => this.#leave(id, tab));
    }
    tab.channel.postMessage({ holder: this.#id });
  }

  /** What was meant for another holder is none's. */
  #take(tab, { to, end, call }) {
    if (to !== this.#id) return;
    if (end !== undefined) tab.instances.delete(end);
    if (call) tab.channel.postMessage({ from: this.#id, nth: call.nth, ...this.#answer(tab, call) });
  }

  #answer(tab, { instance: number, place, name, args }) {
    try {
      if (place === "store") return { value: this.#store[name](...args) };
      let instance = tab.instances.get(number);
      if (!instance) {
        instance = newInstance(this.#bindings, this.#store, Date.now, fillRandom);
        tab.instances.set(number, instance);
      }
      instance.isConnected ||= name === "connect";
      return { value: instance[place][name](...args) };
    } catch (error) {
      return error?.payload ? { payload: error.payload } : { lost: String(error?.message ?? error) };
    }
  }

  /** A tab has gone without a word: what it was at is written, and its sessions are no longer open. */
  #leave(id, tab) {
    this.#tabs.delete(id);
    tab.channel.close();
    for (const { isConnected, connection } of tab.instances.values()) {
      if (!isConnected) continue;
      try {
        for (const peer of ["client", "agent"]) {
          connection.peerClosed(peer);
          connection.pull(0);
        }
      } catch {
        // An instance that is lost is nobody's any more.
      }
    }
  }
}
