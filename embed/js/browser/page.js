// What the page of the tests can do.

import { MemoryStore, createEngine, sessionLayer } from "acp-sessions";

import { load } from "../src/load-web.js";
import { converse, echo, place, saying, session, textOf } from "../test/conversation.js";
import { play } from "../test/player.js";

const bindings = await load();

/** Plays a case of the corpus; returns what has come of it. */
export async function played(name) {
  const wanted = await (await fetch(`/corpus/${name}`)).json();
  return JSON.stringify(play(bindings, new MemoryStore(), wanted));
}

/** A conversation by the official SDK on both sides, and a second one in which it is loaded. */
export async function conversation() {
  const store = new MemoryStore();
  const connect = async (run) => {
    const layer = sessionLayer(await createEngine({ store }), { agentGrace: 0 });
    echo().connect(layer.agent);
    const found = await converse(layer.client, run);
    return { found, by: (await layer.closed).by };
  };
  const said = await connect(async ({ ask, updates }) => {
    const { sessionId } = await ask(session.new, place);
    const { stopReason } = await ask(session.prompt, saying(sessionId, "In a browser"));
    return { sessionId, stopReason, text: textOf(updates, "agent_message_chunk") };
  });
  const loaded = await connect(async ({ ask, updates }) => {
    const { sessions } = await ask(session.list, {});
    await ask(session.load, { ...place, sessionId: sessions[0].sessionId });
    return { sessionId: sessions[0].sessionId, text: textOf(updates, "agent_message_chunk") };
  });
  return { said, loaded };
}
