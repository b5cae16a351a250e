// A conversation by the official SDK: an agent and a client of its own, wherever it runs.

import { agent, client, methods, PROTOCOL_VERSION } from "@agentclientprotocol/sdk/unstable";

export const { session } = methods.agent;

/** An agent that says every word of a prompt by itself, and then waits for `go` where the prompt asks for that. */
export function echo(state = {}) {
  let sessions = 0;
  return agent({ name: "echo" })
    .onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {}, agentInfo: { name: "echo", version: "1" } }))
    .onRequest(session.new, () => ({ sessionId: `${state.prefix ?? "s"}${sessions++}` }))
    .onRequest(session.prompt, async ({ params, client: to }) => {
      const text = params.prompt.at(-1).text;
      for (const word of text.split(" ")) {
        const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${word} ` } };
        await to.notify(methods.client.session.update, { sessionId: params.sessionId, update });
      }
      if (text.includes("wait")) await new Promise((resolve) => state.waiting?.(resolve));
      return { stopReason: "end_turn" };
    });
}

/**
 * A client that has said hello, with what came in: `run` is given how to ask, and the updates.
 */
export function converse(stream, run) {
  const updates = [];
  const told = { next: () => {} };
  return client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update);
      told.next();
    })
    .connectWith(stream, async (context) => {
      const ask = (method, params) => context.request(method, params);
      await ask(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
      return run({ ask, updates, told, context });
    });
}

export const place = { cwd: "/home/x", mcpServers: [] };
export const saying = (sessionId, text) => ({ sessionId, prompt: [{ type: "text", text }] });
export const textOf = (updates, kind) => updates.filter(({ sessionUpdate }) => sessionUpdate === kind).map(({ content }) => content.text).join("");
