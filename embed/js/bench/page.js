// The page's side of `chromium.js`: an engine over a store in memory, or over one in the origin's private file system.

import { MemoryStore, createEngine } from "acp-sessions";
import { openOpfs } from "acp-sessions/opfs";

import { play } from "./play.js";

let opfs;
let engine;

/** Opens the engine that is played to from then on, and plays the first part. */
export async function begin(kind, part) {
  if (kind === "opfs") {
    opfs = await openOpfs("bench");
    engine = await opfs.createEngine();
  } else {
    engine = await createEngine({ store: new MemoryStore() });
  }
  return play(engine, part);
}

export const goOn = (part) => play(engine, part);

/** Leaves the store to the page that is opened next. */
export const leave = () => opfs?.close();
