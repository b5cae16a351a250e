// Plays a case of the conformance corpus (`tests/corpus/README.md`) with instances of the component.

import { newInstance } from "../src/instance.js";
import { compare } from "../src/order.js";
import { StorageError } from "../src/storage-error.js";

const ANY_ROOM = 0xffffffff;
export const camel = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
export const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** A variant as the bindings have it. */
export function variant(value) {
  if (typeof value === "string") return { tag: value };
  const [[tag, val]] = Object.entries(value);
  return { tag, val };
}

/** A variant as a case has it. */
export const plain = ({ tag, val }) => (val === undefined ? tag : { [tag]: json(val) });

/** A value of the bindings as a case has it. */
export function json(value) {
  if (value === undefined) return null;
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(json);
  if (value === null || typeof value !== "object") return value;
  if ("tag" in value) return plain(value);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [kebab(name), json(member)]));
}

/** Options are members that may be missing; the bindings leave none out where there is a `null` to be. */
function answer(kind, value) {
  const answered = json(value);
  const paged = ["list-sessions", "prune-sessions", "move-sessions", "check-store", "list-usage", "read-turn-usage", "read-permissions"];
  if (paged.includes(kind)) answered["next-cursor"] ??= null;
  const left = (rows, names) => rows?.forEach((row) => names.forEach((name) => (row[name] ??= null)));
  left(answered?.usages, ["title", "day"]);
  left(answered?.turns, ["context-used", "context-size"]);
  left(answered?.permissions, ["tool-call-id", "title", "tool-call", "answer"]);
  left(answered?.permissions?.flatMap(({ answer }) => answer ?? []), ["client"]);
  const rows = kind === "get-session" ? [answered] : (answered?.sessions ?? []);
  const members = kind === "move-sessions" ? ["title"] : [
    "title", "updated-at", "last-prompt-at", "last-turn-ended-at", "model", "forked-from", "state", "cost", "agent", "meta",
    "matched-in", "snippet",
  ];
  for (const row of rows) for (const name of members) row[name] ??= null;
  return answered;
}

/** A `step` without what is empty or false. */
function stepOf({ outputs, more, held, full }) {
  const step = {};
  if (outputs.length > 0) {
    step.outputs = outputs.map((output) => {
      const said = plain(output);
      if (said.keep) said.keep.value ??= null;
      return said;
    });
  }
  for (const [name, holds] of Object.entries({ more, held, full })) if (holds) step[name] = true;
  return step;
}

/** The store with what goes wrong in it. An exception that is no error of the WIT loses the instance. */
class Faulty {
  #faults = [];
  #counts = new Map();

  constructor(store, withoutTextSearch) {
    const texts = ["searchText", "findText", "textOwners", "readTexts"];
    for (const name of ["get", "scan", "logEnd", "readLog", "logNames", "commit", ...texts]) {
      this[name] = (...args) => {
        const fault = this.#strike(kebab(name));
        if (fault?.error) {
          const { tag, val } = variant(fault.error);
          throw new StorageError(tag, val);
        }
        if (fault === "lost-before") throw new Error("the instance is to be lost");
        if (withoutTextSearch && texts.includes(name)) throw new StorageError("unsupported");
        const result = store[name](...args);
        if (fault === "lost-after") throw new Error("the instance is to be lost");
        return result;
      };
    }
  }

  arm(faults = []) {
    this.#faults = faults;
    this.#counts.clear();
  }

  #strike(name) {
    const nth = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, nth);
    return this.#faults.find((fault) => fault.function === name && fault.nth === nth)?.flaw;
  }
}

/** Fills with the random numbers of an instance. */
function numbers(instance) {
  let drawn = 0n;
  return (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < bytes.length; at += 8) {
      drawn += 1n;
      view.setBigUint64(at, BigInt.asUintN(64, ((BigInt(instance) << 32n) | drawn) * 0x9e3779b97f4a7c15n));
    }
  };
}

/** All that a store holds, as a case has it: without the names of what had something once. */
function contentOf(store, withoutTextSearch) {
  const most = [0xffffffff, 0xffffffff];
  const content = { records: {}, logs: {}, texts: {} };
  for (const { key, value } of store.scan("", "\x80", false, ...most).entries) content.records[key] = value;
  for (const log of store.logNames(undefined, most[0])) {
    const { entries } = store.readLog(log, 1, ...most);
    if (entries.length > 0) content.logs[log] = entries.map(({ value }) => value);
  }
  for (const owner of withoutTextSearch ? [] : store.textOwners(undefined, most[0])) {
    const { texts } = store.readTexts(owner, 0, ...most);
    if (texts.length > 0) content.texts[owner] = Object.fromEntries(texts.map(({ part, tokens }) => [part, tokens]));
  }
  return content;
}

function fill(store, { records = {}, logs = {}, texts = {} }) {
  const writes = Object.entries(records).map(([key, value]) => ({ tag: "put", val: { key, value } }));
  for (const [log, values] of Object.entries(logs)) {
    values.forEach((value, at) => writes.push({ tag: "append", val: { log, seq: at + 1, value } }));
  }
  for (const [owner, parts] of Object.entries(texts)) {
    for (const [part, tokens] of Object.entries(parts)) {
      writes.push({ tag: "index-text", val: { owner, part: Number(part), tokens } });
    }
  }
  store.commit([], writes, "relaxed");
}

/** The case as it comes out: the same steps with what they return now, and what the storage holds in the end. */
export function play(bindings, store, wanted) {
  const withoutTextSearch = wanted["without-text-search"] ?? false;
  fill(store, wanted.start ?? {});
  const faulty = new Faulty(store, withoutTextSearch);
  const [instances, memos] = [new Map(), new Map()];
  let now = 0;
  const make = (number) => newInstance(bindings, faulty, () => now, numbers(number));

  const stepBy = (number, call) => {
    const step = call(instances.get(number).connection);
    for (const { tag, val } of step.outputs) {
      if (tag !== "keep") continue;
      if (val.value === undefined) memos.get(number).delete(val.key);
      else memos.get(number).set(val.key, val.value);
    }
    return stepOf(step);
  };
  const connect = (number, { settings = [], after, kept = [], lost = [] }) => {
    const given = new Map(after === undefined ? kept : memos.get(after));
    memos.set(number, given);
    instances.set(number, make(number));
    const inOrder = [...given].sort(([a], [b]) => compare(a, b));
    instances.get(number).connection.connect(
      settings.map(([name, value]) => ({ name, value })),
      inOrder.map(([key, value]) => ({ key, value })),
      arrivals(lost),
    );
  };
  const arrivals = (list) => list.map(({ peer, content }) => ({ peer, content: variant(content) }));
  const typed = (number, name, args) => {
    const { sessions } = instances.get(number) ?? make(0);
    const given = Object.fromEntries(Object.entries(args).map(([name, value]) => [name, value ?? undefined]));
    const criteria = Object.entries(given.criteria ?? {}).map(([name, value]) => [camel(name), value]);
    if (given.criteria) given.criteria = { cwds: [], archived: "hidden", subagents: false, includeWorktrees: false, ...Object.fromEntries(criteria) };
    return { ok: answer(name, sessions[camel(name)](...Object.values(given))) };
  };
  const call = (number, name, args) => {
    switch (name) {
      case "commit":
        return store.commit([], args.writes.map(variant), "durable");
      case "connect":
        return connect(number, args);
      case "receive":
        return stepBy(number, (to) => to.receive(arrivals(args.arrivals), args["client-room"] ?? ANY_ROOM));
      case "pull":
        return stepBy(number, (to) => to.pull(args["client-room"] ?? ANY_ROOM));
      case "idle":
        return instances.get(number).connection.idle();
      case "peer-closed":
        return instances.get(number).connection.peerClosed(args.peer);
      case "agent-restarted":
        return instances.get(number).connection.agentRestarted(args.how);
      default:
        return typed(number, name, args);
    }
  };

  const steps = wanted.steps.map((step) => {
    const { returns: _, pulls = [], ...played } = step;
    now = step.now ?? now;
    faulty.arm(step.faults);
    const { tag: name, val: args = {} } = variant(step.call);
    let returns;
    try {
      returns = call(step.instance, name, args);
    } catch (error) {
      const isLost = step.faults?.some(({ flaw }) => typeof flaw === "string");
      if (!isLost && !error.payload) throw error;
      if (!isLost) returns = { error: plain(error.payload) };
    }
    faulty.arm();
    if (returns !== undefined) played.returns = returns;
    if (pulls.length > 0) played.pulls = pulls.map(() => call(step.instance, "pull", {}));
    return played;
  });
  return { ...wanted, steps, end: contentOf(store, withoutTextSearch) };
}
