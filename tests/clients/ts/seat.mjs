// One run of the agent command with the official TypeScript SDK in the client's seat.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk/unstable";

export { methods };

/** Starts the agent, says hello, tells the scene, and waits for the agent's end. */
export async function play(command, scene) {
  const agent = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => agent.once("exit", resolve));
  const updates = [];
  const listeners = new Set();
  const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
  const app = client({ name: "typescript-story" })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params);
      listeners.forEach((listener) => listener());
    })
    .onRequest(methods.client.session.requestPermission, () => ({ outcome: { outcome: "cancelled" } }));
  const result = await app.connectWith(stream, async (context) => {
    const hello = await context.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: {},
      clientInfo: { name: "typescript-story", version: "1.0.0" },
    });
    return scene(new Seat(context, hello, updates, listeners));
  });
  agent.stdin.end();
  const code = await ended;
  if (code !== 0) {
    throw new Error(`the agent ended with ${code}`);
  }
  return result;
}

class Seat {
  constructor(context, hello, updates, listeners) {
    Object.assign(this, { context, hello, updates, listeners });
  }

  request(method, params) {
    return this.context.request(method, params);
  }

  startPrompt(sessionId, text) {
    return this.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  }

  cancel(sessionId) {
    return this.context.notify(methods.agent.session.cancel, { sessionId });
  }

  /** The joined text of one kind of chunk in the updates of a session. */
  text(sessionId, kind) {
    return this.updates
      .filter((update) => update.sessionId === sessionId && update.update.sessionUpdate === kind)
      .map((update) => update.update.content.text)
      .join("");
  }

  /** Resolves once the agent has said something in this session. */
  spoken(sessionId) {
    return new Promise((resolve) => {
      const check = () => {
        if (this.text(sessionId, "agent_message_chunk") !== "") {
          this.listeners.delete(check);
          resolve();
        }
      };
      this.listeners.add(check);
      check();
    });
  }

  async list() {
    const rows = [];
    let cursor;
    do {
      const page = await this.request(methods.agent.session.list, cursor ? { cursor } : {});
      rows.push(...page.sessions);
      cursor = page.nextCursor;
    } while (cursor);
    return rows;
  }
}
