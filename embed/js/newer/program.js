// The built program, which works on the same files.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PROGRAM = process.env.ACP_SESSIONS_PROGRAM ?? fileURLToPath(new URL("../../../target/release/acp-sessions", import.meta.url));

/** What a command says; an error unless it succeeds. */
export function run(command, store, ...options) {
  return execFileSync(PROGRAM, [command, "--store", store, ...options], { encoding: "utf8" });
}

export function told(command, store, ...options) {
  return run(command, store, "--json", ...options).trim().split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

export function findNothingWrong(store) {
  const [{ good, faults, findings }] = told("doctor", store);
  assert.deepEqual({ good, faults, findings }, { good: true, faults: [], findings: [] });
}

/** `acp-sessions agent` at work, as a client sees it: for as long as a test lasts. */
export class Agent {
  #process;
  #lines;
  #asked = 0;

  static async begin(test, store) {
    const agent = new Agent(store);
    test.after(() => agent.#process.kill("SIGKILL"));
    await agent.ask("initialize", { protocolVersion: 1 });
    return agent;
  }

  constructor(store) {
    this.#process = spawn(PROGRAM, ["agent", "--store", store, "--list", "all"], { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  async end() {
    this.#process.stdin.end();
    if (this.#process.exitCode === null) await once(this.#process, "exit");
  }

  /** The result. Notifications before it are passed over. */
  async ask(method, params = {}) {
    const id = ++this.#asked;
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) throw new Error(`no answer to ${method}`);
      const answer = JSON.parse(value);
      if (answer.id !== id) continue;
      assert.ok("result" in answer, value);
      return answer.result;
    }
  }

  async new() {
    return (await this.ask("session/new", { cwd: "/home/x", mcpServers: [] })).sessionId;
  }

  prompt(sessionId, text) {
    return this.ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }
}
