// What somebody writes who embeds the engine in TypeScript. It is only compiled.

import {
  EngineError,
  MemoryStore,
  Refused,
  StorageError,
  createEngine,
  sessionLayer,
  type Engine,
  type Step,
  type Store,
  type connection,
  type sessions,
  type storage,
} from "acp-sessions";
import { ndJsonStream, type Stream } from "@agentclientprotocol/sdk";
import { createEngine as createInPage } from "acp-sessions/web";
import { createGuardedEngine, type GuardedEngine } from "acp-sessions/guarded";
import { FileStore, OpenError } from "acp-sessions/node-sqlite";
import { openOpfs, type OpfsStore } from "acp-sessions/opfs";

/** A store of somebody's own, by the functions of another. */
class Mine implements Store {
  readonly #other = new MemoryStore();
  get: Store["get"] = (keys) => this.#other.get(keys);
  scan: Store["scan"] = (...args) => this.#other.scan(...args);
  logEnd: Store["logEnd"] = (log) => (log === "" ? 0 : this.#other.logEnd(log));
  readLog: Store["readLog"] = (...args) => this.#other.readLog(...args);
  searchText: Store["searchText"] = () => {
    throw new StorageError("unsupported");
  };
  findText: Store["findText"] = (term, scopes) => scopes.map(({ until }) => (term.prefix ? until : undefined));
  textOwners: Store["textOwners"] = () => [];
  readTexts: Store["readTexts"] = () => ({ texts: [], more: false });
  logNames: Store["logNames"] = (after, limit) => this.#other.logNames(after, limit);
  commit: Store["commit"] = (expected, writes, durability) => {
    for (const write of writes) if (write.tag === "put" && write.val.key.length > 1000) throw new StorageError("unavailable", "busy");
    this.#other.commit(expected, writes, durability);
  };
}

/** One that is told what is written, and does what another does. */
class Heard extends MemoryStore {
  readonly written: storage.Write["tag"][] = [];
  override get(keys: string[]) {
    return super.get(keys);
  }
  override commit(expected: storage.Expectation[], writes: storage.Write[], durability: storage.Durability) {
    super.commit(expected, writes, durability);
    this.written.push(...writes.map(({ tag }) => tag));
  }
  override searchText(term: storage.TextTerm, after: storage.TextHit | undefined, limit: number): storage.TextHit[] {
    return super.searchText(term, after, limit);
  }
}

/** The same of one in a file. */
class Kept extends FileStore {
  override scan(start: string, end: string, descending: boolean, limit: number, maxBytes: number): storage.RecordPage {
    return super.scan(start, end, descending, limit, maxBytes);
  }
}
void [new Heard().written, Kept];

// A store has the functions of the interface; what a search has found alone is another.
type OfInterface = Omit<typeof storage, "searchText">;
const asThere: { [name in keyof OfInterface]: OfInterface[name] } = new MemoryStore();
const asHere: Omit<Store, "searchText"> = asThere;
void asHere;

const engine: Engine = await createEngine({
  store: new Mine(),
  settings: { "flush-ms": 100, "agent-timeout": "60s" },
  now: Date.now,
  random: (bytes) => bytes.fill(1),
  warn: (text) => void text.length,
  folders: { worktrees: (cwd) => [cwd], repositoryOf: (cwd) => ({ firstCommit: cwd, depth: 1 }) },
  limits: { output: 1 << 20 },
});

const arrivals: connection.Arrival[] = [{ peer: "client", content: { tag: "line", val: "{}" } }];
const { outputs, more, held, full }: Step = engine.receive(arrivals, 65536);
for (const { tag, val } of outputs) {
  const to: "to-client" | "to-agent" = tag;
  const line: string = val;
  void [to, line];
}
const flags: boolean[] = [more, held, full];
const wait: number | undefined = engine.idle();
engine.peerClosed("agent");
engine.agentRestarted("exit status: 1");
const page = engine.sessions.listSessions({ cwds: [], archived: "hidden", subagents: false, includeWorktrees: false, search: "words" }, 50, undefined);
const criteria: sessions.ListCriteria = { cwds: [], archived: "hidden", subagents: false, includeWorktrees: false };
void engine.sessions.listSessions(criteria, 50).nextCursor;
void engine.sessions.changesSince(criteria).position;
const titles: Array<string | undefined> = page.sessions.map(({ title }) => title);
const renamed: string = engine.sessions.renameSession("s", "Title");
void [flags, wait, titles, renamed, page.nextCursor, EngineError];
try {
  engine.sessions.getSession("s9");
} catch (error) {
  if (error instanceof Refused) void error.tag.length;
}

const guarded: GuardedEngine = await createGuardedEngine({ store: new MemoryStore(), milliseconds: 1000 });
const step: Step = await guarded.receive(arrivals);
const first: string | undefined = (await guarded.sessions.readTranscript("s", undefined, 10)).updates[0]?.update;
const secondPage: sessions.Page = await guarded.sessions.listSessions(criteria, 50, (await guarded.sessions.listSessions(criteria, 50)).nextCursor);
void secondPage;
await guarded.close();
void [step, first];

try {
  const file = new FileStore("sessions.db", { busyFor: 1000 });
  const inFile: Engine = await createEngine({ store: file });
  const isClean: boolean = file.clean();
  file.close();
  void [inFile, isClean];
} catch (error) {
  if (error instanceof OpenError && error.reason === "old-sqlite") void error.message;
}

const inBrowser: OpfsStore = await openOpfs("sessions", { milliseconds: 1000, library: "/sqlite/index.mjs" });
const shared: GuardedEngine = await inBrowser.createEngine({ settings: { list: "all" }, warn: (text) => void text.length });
const isHere: boolean = inBrowser.holds && (await inBrowser.clean());
void sessionLayer(shared).client;
inBrowser.close();
void isHere;

// The layer, by the types of the official SDK.
const inPage = sessionLayer(await createInPage({ store: new MemoryStore() }));
void inPage.client;
const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
const stdio: Stream = ndJsonStream(writable, readable);
const layer = sessionLayer(engine, { agent: stdio });
const forClient: Stream = layer.client;
const inBytes = sessionLayer(guarded, { client: { readable, writable, bytes: true }, agentGrace: 0 });
const forAgent: Stream = inBytes.agent;
const ended: "client" | "agent" | "layer" = (await layer.closed).by;
layer.close();
void [forClient, forAgent, ended];

// And what is refused.
// @ts-expect-error: it was given
void layer.agent.readable;
// @ts-expect-error: it has to be waited for
void (await createGuardedEngine({ store: new MemoryStore() })).pull().outputs;
// @ts-expect-error: it has a store
void inBrowser.createEngine({ store: new MemoryStore() });
// @ts-expect-error: a store in a file needs a path
new FileStore();
// @ts-expect-error: an engine needs a store
void createEngine({});
// @ts-expect-error: how many are wanted is to be said
engine.sessions.listSessions(criteria);
// @ts-expect-error: there is no such peer
engine.peerClosed("server");
// @ts-expect-error: there is no such error
new StorageError("busy");
// @ts-expect-error: a line is a text
engine.receive([{ peer: "client", content: { tag: "line", val: 1 } }]);
// @ts-expect-error: what is kept does not come out
if (outputs[0].tag === "keep") void 0;
// @ts-expect-error: a store has all functions
const half: Store = { get: () => [] };
void half;
