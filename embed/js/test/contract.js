// Holds a store against the contract of storages: the cases of `tests/storage`, whose README has the format. Runs in browsers too.

import { camel, json, plain, variant } from "./player.js";

/** How much there is beside what is asked for, where the work is measured, and how many times the work may grow. */
const SIZES = [500, 4000];
const MOST_GROWTH = 2;

/** What a storage's author brings it into where a case says so. */
export const STATES = ["full", "read-only", "busy", "damaged"];

/** The errors that say in a text what is wrong. */
const WITH_TEXT = ["corrupt", "unavailable"];

/** What a value of a case stands for: `size` for a count that says so, `number` for `{n}`. */
function expand(value, size, number) {
  if (typeof value === "string" && number !== undefined) {
    return value === "{n}" ? number : value.replaceAll("{n}", () => number);
  }
  if (Array.isArray(value)) return value.flatMap((element) => elements(element, size, number));
  if (value === null || typeof value !== "object") return value;
  if ("repeat" in value) return value.repeat.repeat(value.times);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, expand(member, size, number)]));
}

function elements(value, size, number) {
  if (value === null || typeof value !== "object" || !("count" in value)) return [expand(value, size, number)];
  const { count, from = 0, of } = value;
  return Array.from({ length: count === "size" ? size : count }, (_, nth) => expand(of, size, from + nth));
}

const given = (value) => value ?? undefined;
const ARGUMENTS = {
  "search-text": ({ term, after, limit }) => [term, given(after), limit],
  "text-owners": ({ after, limit }) => [given(after), limit],
  "log-names": ({ after, limit }) => [given(after), limit],
  commit: ({ expected, writes, durability }) => [
    expected.map(({ key, value }) => ({ key, value: given(value) })),
    writes.map(variant),
    durability,
  ],
};

/** What a store answers to a call, as a case writes it. */
function answer(store, call) {
  const { tag: name, val: args } = variant(call);
  const list = ARGUMENTS[name]?.(args) ?? Object.values(args);
  try {
    return { ok: json(store[camel(name)](...list)) };
  } catch (error) {
    if (!error.payload) throw error;
    return { error: plain(error.payload) };
  }
}

/** The same text for the same value, in whatever order its members stand. */
const canonical = (value) => JSON.stringify(value, (_, member) => (isObject(member) ? Object.fromEntries(Object.entries(member).sort()) : member));
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isWanted = (wanted, answered) => (wanted.either ?? [wanted]).some((one) => isSame(one, answered));

/** What an error says in its text is left to the storage, but it must say something. */
function isSame(wanted, answered) {
  if (!WITH_TEXT.includes(wanted.error)) return canonical(wanted) === canonical(answered);
  const text = answered.error?.[wanted.error];
  return typeof text === "string" && text !== "";
}

async function held({ about, needs, steps }, store, turn) {
  for (const [nth, { turns, call, returns }] of expand(steps).entries()) {
    if (turns) {
      if (!needs?.includes(turns)) throw new Error(`${about}: it needs a state that it does not name: ${turns}`);
      await turn(store, turns);
      continue;
    }
    const answered = answer(store, call);
    if (!isWanted(returns, answered)) return `${about}\n  step ${nth} ${JSON.stringify({ call, returns, answered })}`;
  }
}

function measured({ about, start, fill, call, returns }, open, work) {
  const [called, wanted] = [expand(call), expand(returns)];
  const works = SIZES.map((size) => {
    const store = open();
    for (const writes of [start, fill]) store.commit([], expand(writes, size).map(variant), "relaxed");
    let answered;
    const done = work(store, () => (answered = answer(store, called)));
    return isWanted(wanted, answered) ? done : NaN;
  });
  // Who counts nothing cannot tell.
  const isBounded = works[0] > 0 && works[1] <= MOST_GROWTH * works[0];
  return isBounded ? undefined : `${about}\n  the work grew from ${works[0]} to ${works[1]} (NaN: a wrong answer)`;
}

/**
 * What a store breaks of the contract; nothing where it keeps it.
 *
 * @param {[string, object][]} all the cases
 * @param {() => import("../src/index.js").Store} open gives an empty store
 * @param {object} options `lacks`: what it is without, in the words of the README; `work(store, run)`: how much work `run` is for it;
 * `turn(store, state)`: brings it into a state, which it stays in, and may take its time
 */
export async function contract(all, open, { lacks = [], work, turn } = {}) {
  const without = [...lacks, ...(work ? [] : ["work", "page-work"]), ...(turn ? [] : STATES)];
  const isOf = (one) => (one.lacks ?? []).every((what) => without.includes(what)) && !one.needs?.some((what) => without.includes(what));
  const found = [];
  for (const [name, one] of all.filter(([, one]) => isOf(one))) {
    const wrong = one.steps ? await held(one, open(), turn) : measured(one, open, work);
    if (wrong) found.push(`${name}: ${wrong}`);
  }
  return found;
}
