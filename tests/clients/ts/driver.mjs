// node driver.mjs AGENT ARGS…
//
// Performs steps with the official TypeScript SDK: reads one a line from its input, and writes for each a line that says
// what the SDK gave. What a step is and what must come of it is written in tests/src/clients/.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk/unstable";

const command = process.argv.slice(2);
const steps = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const session = methods.agent.session;

/** The next step, or undefined at the end of the story. */
async function nextStep() {
  const { value } = await steps.next();
  return value && JSON.parse(value);
}

/** The client's side of one conversation. */
class Seat {
  /** Updates that were not reported yet. */
  updates = [];
  /** Called with each update. */
  told = () => {};
  /** The prompt that was sent and not waited for. */
  turn = undefined;
  context = undefined;

  hear(update) {
    this.updates.push(update);
    this.told();
  }

  /** Resolves once there is an update to report. */
  heard() {
    return new Promise((resolve) => {
      this.told = resolve;
      if (this.updates.length > 0) {
        resolve();
      }
    });
  }

  request(method, params) {
    return this.context.request(method, params);
  }

  async perform({ step, sessionId, cwd, text, modeId, cursor }) {
    const place = { sessionId, cwd, mcpServers: [] };
    switch (step) {
      case "new":
        return this.request(session.new, { cwd, mcpServers: [] });
      case "load":
        return this.request(session.load, place);
      case "resume":
        return this.request(session.resume, place);
      case "fork":
        return this.request(session.fork, place);
      case "list":
        return this.request(session.list, cursor ? { cursor } : {});
      case "setMode":
        return this.request(session.setMode, { sessionId, modeId });
      case "close":
        return this.request(session.close, { sessionId });
      case "delete":
        return this.request(session.delete, { sessionId });
      case "cancel":
        return this.context.notify(session.cancel, { sessionId });
      case "prompt":
        this.turn = this.request(session.prompt, { sessionId, prompt: [{ type: "text", text }] });
        return undefined;
      case "finish":
        return this.turn;
      case "hear":
        return this.heard();
      default:
        throw new Error(`no such step: ${step}`);
    }
  }

  report(outcome) {
    console.log(JSON.stringify({ ...outcome, updates: this.updates.splice(0) }));
  }
}

/** What the SDK resolves to, or the agent's error. */
async function outcome(promise) {
  try {
    return { result: (await promise) ?? null };
  } catch (error) {
    if (typeof error.code !== "number") {
      throw error;
    }
    return { error: { code: error.code, data: error.data } };
  }
}

/** Starts the agent, says hello, performs steps to the end of this run, and waits for the agent's end. */
async function run() {
  const seat = new Seat();
  const agent = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => agent.once("exit", resolve));
  const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
  await client({ name: "typescript-story" })
    .onNotification(methods.client.session.update, ({ params }) => seat.hear(params))
    .onRequest(methods.client.session.requestPermission, () => ({ outcome: { outcome: "cancelled" } }))
    .connectWith(stream, async (context) => {
      seat.context = context;
      const hello = {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: {},
        clientInfo: { name: "typescript-story", version: "1.0.0" },
      };
      seat.report(await outcome(context.request(methods.agent.initialize, hello)));
      for (let step = await nextStep(); step.step !== "end"; step = await nextStep()) {
        seat.report(await outcome(seat.perform(step)));
      }
    });
  agent.stdin.end();
  seat.report({ result: { code: await ended } });
}

for (let step = await nextStep(); step; step = await nextStep()) {
  if (step.step !== "start") {
    throw new Error(`no agent runs to ${step.step} with`);
  }
  await run();
}
