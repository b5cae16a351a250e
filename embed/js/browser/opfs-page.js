// What a tab of the tests can do with the store that all of them have.

import { sessionLayer } from "acp-sessions";
import { openOpfs } from "acp-sessions/opfs";

import { converse, echo, place, saying, session, textOf } from "../test/conversation.js";

let store;
let here;

/** Opens the store, and begins a conversation of the official SDK's in it. */
export async function begin(prefix, name, options) {
  store = await openOpfs(name, options);
  const [warnings, state] = [[], { prefix }];
  const engine = await store.createEngine({ settings: { list: "all" }, warn: (text) => warnings.push(text) });
  const layer = sessionLayer(engine, { agentGrace: 0 });
  echo(state).connect(layer.agent);
  await new Promise((ready, failed) => {
    converse(layer.client, (client) => {
      here = { ...client, engine, layer, state, warnings };
      ready();
      return layer.closed;
    }).catch(failed);
  });
}

export const holds = () => store.holds;
export const clean = () => store.clean();
export const leave = () => store.close();

/** Why a store is not opened. */
export async function refusal(name) {
  try {
    (await openOpfs(name)).close();
  } catch (error) {
    return [error.name, error.reason, error.message];
  }
}

export const warnings = () => here.warnings;

export async function newSession() {
  return (await here.ask(session.new, place)).sessionId;
}

/** A turn; returns how it ended, or the code of its error. */
export async function turn(sessionId, text) {
  try {
    return (await here.ask(session.prompt, saying(sessionId, text))).stopReason;
  } catch (error) {
    return error.code ?? String(error);
  }
}

/** Begins a turn in which the agent waits; returns when it does. */
export async function beginTurn(sessionId, text) {
  const waits = new Promise((resolve) => (here.state.waiting = resolve));
  here.turn = turn(sessionId, `${text} wait`);
  here.goOn = await waits;
}

/** The agent goes on; returns how the turn ended. */
export function endTurn() {
  here.goOn();
  return here.turn;
}

/** One turn after the other, until the tab is gone or is told to stop; `told` is told how each ended. */
export function keepTalking(sessionId) {
  here.isStopped = false;
  here.talking = (async () => {
    for (let nth = 0; !here.isStopped; nth++) {
      await globalThis.told(sessionId, `turn ${nth}`, await turn(sessionId, `turn ${nth}`));
    }
  })();
}

export function stopTalking() {
  here.isStopped = true;
  return here.talking;
}

/** The ids of all sessions, as the protocol lists them. */
export async function list() {
  const { sessions } = await here.ask(session.list, {});
  return sessions.map(({ sessionId }) => sessionId);
}

/** Removes sessions that are open nowhere, until there were some; returns their ids. */
export async function pruned() {
  for (;;) {
    const { sessions } = await here.engine.sessions.pruneSessions("9999-01-01", undefined, 10, undefined, false);
    if (sessions.length > 0) return sessions.map(({ id }) => id);
  }
}

/** What was asked in a session, and what was answered, by the typed interface. */
export async function transcript(sessionId) {
  const said = [];
  for (let page = { more: true }; page.more; ) {
    page = await here.engine.sessions.readTranscript(sessionId, page.updates?.at(-1).cursor, 1000);
    said.push(...page.updates.map(({ update }) => JSON.parse(update)));
  }
  return [textsOf(said, "user_message_chunk"), textOf(said, "agent_message_chunk")];
}

const textsOf = (updates, kind) => updates.filter(({ sessionUpdate }) => sessionUpdate === kind).map(({ content }) => content.text);

/** Begins to load a session on a connection of its own, and takes so much of its history and no more. */
export async function beginLoad(sessionId, count) {
  const layer = sessionLayer(await store.createEngine({ settings: { list: "all" } }), { agentGrace: 0 });
  echo().connect(layer.agent);
  const [reader, writer] = [layer.client.readable.getReader(), layer.client.writable.getWriter()];
  const updates = [];
  /** Reads until there is an answer, or so much history. */
  const read = async (id, most = Infinity) => {
    while (updates.length < most) {
      const { value, done } = await reader.read();
      if (done) throw new Error("the connection has ended");
      if (value.method === "session/update") updates.push(value.params.update);
      else if (value.id === id) return value;
    }
  };
  const ask = (id, method, params) => writer.write({ jsonrpc: "2.0", id, method, params });
  await ask(0, "initialize", { protocolVersion: 1, clientCapabilities: {} });
  await read(0);
  await ask(1, "session/load", { ...place, sessionId });
  await read(1, count);
  here.load = async () => {
    const { result, error } = await read(1);
    return { error: error?.code, isLoaded: result !== undefined, prompts: textsOf(updates, "user_message_chunk") };
  };
  return updates.length;
}

/** Takes the rest. */
export const endLoad = () => here.load();

let cases;

/** Has a worker do something with the cases of the contract and of the corpus (`opfs-worker.js`). */
export async function inWorker(what, given) {
  const answer = () => new Promise((resolve) => cases.addEventListener("message", ({ data }) => resolve(data), { once: true }));
  if (!cases) {
    cases = new Worker("/browser/opfs-worker.js", { type: "module" });
    await answer();
  }
  cases.postMessage({ what, given });
  const { done, failed } = await answer();
  if (failed) throw new Error(failed);
  return JSON.parse(done);
}

/** Opens the files of a store that nobody has open, and no more, as a tab has them that has just been killed; returns how many there are. */
export async function holdFiles(name) {
  const source = `onmessage = async ({ data }) => {
    let folder = await navigator.storage.getDirectory();
    for (const part of ["acp-sessions", data, ".opaque"]) folder = await folder.getDirectoryHandle(part);
    globalThis.held = [];
    for await (const file of folder.values()) held.push(await file.createSyncAccessHandle());
    postMessage(held.length);
    onmessage = () => held.forEach((file) => file.close());
  }`;
  const holder = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  letGo = () => holder.postMessage("go");
  holder.postMessage(name);
  return new Promise((resolve) => (holder.onmessage = ({ data }) => resolve(data)));
}

let letGo;
export const releaseFiles = () => letGo();
