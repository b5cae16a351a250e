// What is known of folders, by whoever has a file system: the engine asks for it, in either kind.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createGuardedEngine } from "../src/guarded.js";
import { MemoryStore, createEngine } from "../src/index.js";

const OTHER = "/wt/x";

/** Two sessions in corresponding directories of two worktrees, over an engine that is told of them or not. */
async function listed(create, folders) {
  let now = 1_760_000_000_000;
  const engine = await create({ store: new MemoryStore(), now: () => now, folders });
  const say = async (peer, message) => {
    const val = JSON.stringify({ jsonrpc: "2.0", ...message });
    const { outputs } = await engine.receive([{ peer, content: { tag: "line", val } }]);
    return outputs.map((output) => JSON.parse(output.val));
  };
  await say("client", { id: 0, method: "initialize", params: { protocolVersion: 1 } });
  await say("agent", { id: 0, result: { protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: "a", version: "1" } } });
  for (const [id, cwd] of [["s1", "/home/x"], ["s2", OTHER]]) {
    await say("client", { id, method: "session/new", params: { cwd, mcpServers: [] } });
    await say("agent", { id, result: { sessionId: id } });
    now += 1000;
    await engine.idle();
  }
  const [answer] = await say("client", { id: 1, method: "session/list", params: { cwd: "/home/x", includeWorktrees: true } });
  const noted = await engine.sessions.foldersOf("abc");
  const page = await engine.sessions.listSessions({ cwd: "/home/x", archived: "hidden", subagents: false, includeWorktrees: true }, 10, undefined);
  await engine.close?.();
  const ids = answer.result.sessions.map(({ sessionId }) => sessionId);
  assert.deepEqual(page.sessions.map(({ id }) => id), ids);
  return { ids, noted };
}

for (const [name, create] of [["at once", createEngine], ["with a deadline", createGuardedEngine]]) {
  test(`worktrees are listed together, and repositories noted, ${name}`, async () => {
    const asked = [];
    const folders = {
      worktrees: (cwd) => (asked.push(cwd), [OTHER]),
      repositoryOf: (cwd) => (cwd === "/home/x" ? { firstCommit: "abc", depth: 1 } : undefined),
    };
    const noted = [{ cwd: "/home/x", root: "/home" }];
    assert.deepEqual(await listed(create, folders), { ids: ["s2", "s1"], noted });
    assert.deepEqual(asked, ["/home/x", "/home/x"]);
  });

  test(`who knows nothing, or a part, is asked in vain, ${name}`, async () => {
    for (const folders of [undefined, {}, { repositoryOf: () => undefined }]) {
      assert.deepEqual(await listed(create, folders), { ids: ["s1"], noted: [] });
    }
  });
}
