// What a connection is called with, checked before any of it is handed over: an instance that is given something else is lost with it, and so
// would be every one after it. What comes back is a copy, so that it stays what it was and holds nothing that goes to no other thread.

/** Room for whatever comes. */
const ANY_ROOM = 0xffffffff;
const PEERS = ["client", "agent"];
const CONTENTS = ["line", "too-long", "not-text", "not-bearable"];

/** By the names of the functions: what the engine is called with. Throws `TypeError`. */
export const ARGUMENTS = {
  receive: (arrivals, clientRoom) => [arrivalsOf(arrivals), roomOf(clientRoom)],
  pull: (clientRoom) => [roomOf(clientRoom)],
  peerClosed: (peer) => [peerOf(peer)],
  agentRestarted: (how) => [textOf(how, "how the agent has ended")],
  idle: () => [],
};

function arrivalsOf(arrivals) {
  if (!Array.isArray(arrivals)) throw new TypeError("arrivals are an array");
  return arrivals.map((arrival) => {
    const { peer, content } = arrival ?? {};
    const tag = content?.tag;
    if (!CONTENTS.includes(tag)) throw new TypeError(`an arrival's content has a tag, one of ${CONTENTS.join(", ")}, and not ${shown(tag)}`);
    return { peer: peerOf(peer), content: { tag, val: textOf(content.val, "what arrived") } };
  });
}

function peerOf(peer) {
  if (!PEERS.includes(peer)) throw new TypeError(`a peer is the client or the agent, and not ${shown(peer)}`);
  return peer;
}

function textOf(text, what) {
  if (typeof text !== "string") throw new TypeError(`${what} is a text, and not ${shown(text)}`);
  return text;
}

function roomOf(room = ANY_ROOM) {
  if (!(typeof room === "number" && room >= 0)) throw new TypeError(`the client's room is a number of bytes, and not ${shown(room)}`);
  return Math.min(Math.floor(room), ANY_ROOM);
}

function shown(value) {
  return typeof value === "string" ? JSON.stringify(value) : typeof value;
}
