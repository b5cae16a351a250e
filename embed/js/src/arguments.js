// What an engine is called with, checked before any of it is handed over: an instance that is given something else is lost with it, and so
// would be every one after it. What comes back is a copy, so that it stays what it was and holds nothing that goes to no other thread.

/** Room for whatever comes. */
const ANY_ROOM = 0xffffffff;
const PEERS = ["client", "agent"];
const CONTENTS = ["line", "too-long", "not-text", "not-bearable"];
const ARCHIVED = ["hidden", "shown", "only"];
const MENDING = ["nothing", "derived", "everything"];

/** By the names of the functions: what a connection is called with. Throws `TypeError`. */
export const ARGUMENTS = {
  receive: (arrivals, clientRoom) => [arrivalsOf(arrivals), roomOf(clientRoom)],
  pull: (clientRoom) => [roomOf(clientRoom)],
  peerClosed: (peer) => [peerOf(peer)],
  agentRestarted: (how) => [textOf(how, "how the agent has ended")],
  idle: () => [],
};

/** By the names of the functions: what the typed interface is called with. Throws `TypeError`. */
export const TYPED = {
  listSessions: (criteria, limit, cursor) => [criteriaOf(criteria), limitOf(limit), cursorOf(cursor)],
  changesSince: (criteria, position) => [criteriaOf(criteria), optional(position, "a position")],
  getSession: (id) => [idOf(id)],
  readTranscript: (id, after, limit) => [idOf(id), cursorOf(after), limitOf(limit)],
  readSetAside: (id, after, limit) => [idOf(id), cursorOf(after), limitOf(limit)],
  listUsage: (limit, cursor) => [limitOf(limit), cursorOf(cursor)],
  readTurnUsage: (id, after, limit) => [idOf(id), cursorOf(after), limitOf(limit)],
  readPermissions: (id, after, limit) => [idOf(id), cursorOf(after), limitOf(limit)],
  renameSession: (id, title) => [idOf(id), textOf(title, "a title")],
  archiveSession: (id, archived) => [idOf(id), flagOf(archived, "whether it is archived")],
  deleteSession: (id) => [idOf(id)],
  finishDeletes: () => [],
  pruneSessions: (idleSince, cwd, limit, cursor, dryRun) => [
    textOf(idleSince, "since when they are idle"),
    optional(cwd, "a folder"),
    limitOf(limit),
    cursorOf(cursor),
    flagOf(dryRun, "whether it is a dry run"),
  ],
  moveSessions: (oldCwd, newCwd, limit, cursor, dryRun) => [
    textOf(oldCwd, "the old folder"),
    textOf(newCwd, "the new folder"),
    limitOf(limit),
    cursorOf(cursor),
    flagOf(dryRun, "whether it is a dry run"),
  ],
  foldersOf: (firstCommit) => [textOf(firstCommit, "a commit")],
  checkStore: (mending, cursor, limit) => [oneOf(MENDING, mending, "what is mended"), cursorOf(cursor), limitOf(limit)],
};

function criteriaOf(criteria) {
  if (typeof criteria !== "object" || criteria === null) throw new TypeError(`criteria are an object, and not ${shown(criteria)}`);
  const { cwds, archived, subagents, includeWorktrees } = criteria;
  const texts = ["createdAfter", "createdBefore", "updatedAfter", "search"].map((name) => [name, optional(criteria[name], name)]);
  return {
    ...Object.fromEntries(texts),
    cwds: foldersOf(cwds),
    archived: oneOf(ARCHIVED, archived, "archived"),
    subagents: flagOf(subagents, "subagents"),
    includeWorktrees: flagOf(includeWorktrees, "includeWorktrees"),
  };
}

function foldersOf(cwds = []) {
  if (!Array.isArray(cwds)) throw new TypeError(`cwds are an array of folders, and not ${shown(cwds)}`);
  return cwds.map((cwd) => textOf(cwd, "a folder"));
}

function idOf(id) {
  return textOf(id, "a session's id");
}

function cursorOf(cursor) {
  return optional(cursor, "a cursor");
}

function limitOf(limit) {
  if (!(Number.isInteger(limit) && limit >= 0 && limit <= ANY_ROOM)) {
    throw new TypeError(`a limit is a whole number from 0 to ${ANY_ROOM}, and not ${typeof limit === "number" ? limit : shown(limit)}`);
  }
  return limit;
}

/** What is not said is not so. */
function flagOf(flag = false, what) {
  if (typeof flag !== "boolean") throw new TypeError(`${what} is true or false, and not ${shown(flag)}`);
  return flag;
}

function oneOf(names, name, what) {
  if (!names.includes(name)) throw new TypeError(`${what} is one of ${names.join(", ")}, and not ${shown(name)}`);
  return name;
}

function optional(text, what) {
  return text === undefined || text === null ? undefined : textOf(text, what);
}

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
