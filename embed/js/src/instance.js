import { textHits } from "./text-hits.js";

/**
 * Makes instances of the engine.
 *
 * @param {{ instantiate: Function, modules: Map<string, WebAssembly.Module> }} bindings as `load` gives them
 * @param {object} store what the WIT calls `storage`
 * @param {() => number} now the time in milliseconds since 1970
 * @param {(bytes: Uint8Array) => void} fill fills with random bytes
 * @param {object} [folders] what is known of folders, as in `EngineOptions`
 */
export function newInstance({ instantiate, modules }, store, now, fill, folders) {
  const randomBytes = (length) => {
    const bytes = new Uint8Array(Number(length));
    fill(bytes);
    return bytes;
  };
  const functions = {};
  for (const name of FUNCTIONS) functions[name] = (...args) => atOnce(name, store[name](...args));
  const { searchText } = functions;
  functions.searchText = (...args) => textHits(searchText(...args));
  const interfaces = {
    "acp:sessions/storage": functions,
    "acp:sessions/folders": {
      worktrees: (cwd) => (folders?.worktrees ? atOnce("worktrees", folders.worktrees(cwd)) : []),
      repositoryOf: (cwd) => atOnce("repositoryOf", folders?.repositoryOf?.(cwd)),
    },
    "wasi:clocks/wall-clock": {
      now() {
        const millis = Math.max(0, Math.floor(now()));
        const seconds = Math.floor(millis / 1000);
        return { seconds: BigInt(seconds), nanoseconds: (millis - seconds * 1000) * 1_000_000 };
      },
      resolution: () => ({ seconds: 0n, nanoseconds: 1_000_000 }),
    },
    "wasi:random/random": {
      getRandomBytes: randomBytes,
      getRandomU64: () => new DataView(randomBytes(8).buffer).getBigUint64(0),
    },
  };
  const imports = {};
  for (const [name, version] of VERSIONS) imports[name] = imports[`${name}@${version}`] = interfaces[name];
  return instantiate(
    (path) => modules.get(path),
    imports,
    (module, core) => new WebAssembly.Instance(module, core),
  );
}

/** What a function of a store or of folders has returned. An engine waits for no promise: what fails in one would count as done. */
export function atOnce(name, returned) {
  if (typeof returned?.then !== "function") return returned;
  // Nobody waits for it, and that it fails must not be the end of the process.
  returned.then(undefined, () => {});
  const whose = ABOUT_FOLDERS.includes(name) ? "the folders'" : "the store's";
  throw new TypeError(`${whose} \`${name}\` has returned a promise: its functions are synchronous`);
}

/** What a store has. */
export const FUNCTIONS = [
  "get",
  "scan",
  "logEnd",
  "readLog",
  "searchText",
  "findText",
  "textOwners",
  "readTexts",
  "logNames",
  "commit",
];

/** What may be known of folders. */
export const ABOUT_FOLDERS = ["worktrees", "repositoryOf"];

const VERSIONS = [
  ["acp:sessions/storage", "0.1.0"],
  ["acp:sessions/folders", "0.1.0"],
  ["wasi:clocks/wall-clock", "0.2.12"],
  ["wasi:random/random", "0.2.12"],
];
