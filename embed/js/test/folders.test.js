// What is known of folders, by whoever has a file system: the engine asks for it, in either kind.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createGuardedEngine } from "../src/guarded.js";
import { MemoryStore, Refused, createEngine } from "../src/index.js";

const OTHER = "/wt/x";

/** An engine with two sessions in corresponding directories of two worktrees, of which it is told or not, and who says lines to it. */
async function inTwoWorktrees(create, folders) {
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
  return { engine, say };
}

const LIST = { id: 1, method: "session/list", params: { cwd: "/home/x", includeWorktrees: true } };
const CRITERIA = { cwds: ["/home/x"], archived: "hidden", subagents: false, includeWorktrees: true };

const idsOf = ({ result }) => result.sessions.map(({ sessionId }) => sessionId);

async function listed(create, folders) {
  const { engine, say } = await inTwoWorktrees(create, folders);
  const [answer] = await say("client", LIST);
  const noted = await engine.sessions.foldersOf("abc");
  const page = await engine.sessions.listSessions(CRITERIA, 10, undefined);
  await engine.close?.();
  const ids = idsOf(answer);
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

  test(`a list waits until it is known which worktrees there are, ${name}`, async () => {
    let known;
    const { engine, say } = await inTwoWorktrees(create, { worktrees: () => known });
    assert.deepEqual(await say("client", LIST), []);
    const notYet = (error) => error instanceof Refused && error.tag === "not-yet";
    await assert.rejects(async () => await engine.sessions.listSessions(CRITERIA, 10, undefined), notYet);
    assert.ok((await engine.idle()) < engine.flushMs, "it asks again soon");
    known = [OTHER];
    await engine.idle();
    const [output] = (await engine.pull()).outputs;
    assert.deepEqual(idsOf(JSON.parse(output.val)), ["s2", "s1"]);
    assert.equal((await engine.sessions.listSessions(CRITERIA, 10, undefined)).sessions.length, 2);
    await engine.close?.();
  });

  test(`who knows nothing, or a part, is asked in vain, ${name}`, async () => {
    const none = [undefined, null, {}, { worktrees: null, repositoryOf: null }, { repositoryOf: () => undefined }];
    for (const folders of none) {
      assert.deepEqual(await listed(create, folders), { ids: ["s1"], noted: [] });
    }
  });
}
