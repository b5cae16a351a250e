// node follower.mjs AGENT ARGS…
//
// Follows the list of all sessions with the official TypeScript SDK (draft: session list extensions), and writes the list as
// it keeps it, a line each time it has changed, the rows ordered by their ids. It ends when its input does.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk/unstable";

// The SDK sends a request of any name as it is, and gives notifications that it does not know to a handler that was
// registered with a parser for their params.
const asTheyAre = (params) => params;
const everything = { archived: "all" };

/** The list, by session. */
const rows = new Map();
let subscription;
/** What was told before it was known which subscription it is of. */
const early = [];

function put(sessions) {
  for (const row of sessions) {
    rows.set(row.sessionId, row);
  }
}

function show() {
  const byId = (one, other) => (one.sessionId < other.sessionId ? -1 : 1);
  console.log(JSON.stringify([...rows.values()].sort(byId)));
}

/** Takes in a page, and those that follow it. */
async function read(context, page) {
  put(page.sessions);
  while (page.nextCursor) {
    page = await context.request("session/list", { ...everything, cursor: page.nextCursor });
    put(page.sessions);
  }
  show();
}

function apply({ subscriptionId, sessions, removed }) {
  if (subscription === undefined) {
    early.push({ subscriptionId, sessions, removed });
  } else if (subscriptionId === subscription) {
    put(sessions);
    removed.forEach((id) => rows.delete(id));
    show();
  }
}

const [program, ...args] = process.argv.slice(2);
const agent = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
const ended = new Promise((resolve) => agent.once("exit", resolve));
const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
await client({ name: "typescript-follower" })
  .onNotification("session/list/changes", asTheyAre, ({ params }) => apply(params))
  .onNotification("session/list/resync", asTheyAre, async ({ agent: context }) => {
    rows.clear();
    await read(context, await context.request("session/list", everything));
  })
  .connectWith(stream, async (context) => {
    await context.request("initialize", { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
    const { subscriptionId, ...page } = await context.request("session/list/subscribe", everything);
    subscription = subscriptionId;
    await read(context, page);
    early.forEach(apply);
    for await (const _ of process.stdin) {
      // Nothing is said to it: only the end counts.
    }
    const answer = await context.request("session/list/unsubscribe", { subscriptionId });
    if (Object.keys(answer).length > 0) {
      throw new Error(`unsubscribing was answered with ${JSON.stringify(answer)}`);
    }
  });
agent.stdin.end();
process.exitCode = await ended;
