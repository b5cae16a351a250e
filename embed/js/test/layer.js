// What the tests of the layer have in common: how the official SDK is connected, and with which engines.

import { ndJsonStream } from "@agentclientprotocol/sdk/unstable";

import { createGuardedEngine } from "../src/guarded.js";
import { createEngine, sessionLayer } from "../src/index.js";

/** Two ends of two pipes of bytes: `near` as the SDK takes them, and `far` as the layer does. */
export function pipes() {
  const [there, back] = [new TransformStream(), new TransformStream()];
  return { near: ndJsonStream(there.writable, back.readable), far: { readable: there.readable, writable: back.writable, bytes: true } };
}

/** Where the bytes are: how the layer is put between the two. */
export const PLACES = {
  "before the layer": (engine) => {
    const { near, far } = pipes();
    const layer = sessionLayer(engine, { client: far, agentGrace: 0 });
    return { layer, forClient: near, forAgent: layer.agent };
  },
  "behind the layer": (engine) => {
    const { near, far } = pipes();
    const layer = sessionLayer(engine, { agent: far, agentGrace: 0 });
    return { layer, forClient: layer.client, forAgent: near };
  },
};

/** The kinds of engines. */
export const ENGINES = {
  plain: async (options) => ({ engine: await createEngine(options), end: async () => {} }),
  guarded: async (options) => {
    const engine = await createGuardedEngine(options);
    return { engine, end: () => engine.close() };
  },
};
