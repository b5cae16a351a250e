import { resolve } from "node:path";

import { openFile } from "./sqlite/node/opening.js";
import { inHome, watched } from "./sqlite/node/place.js";
import { SqlStore } from "./sqlite/store.js";

export { OpenError } from "./sqlite/errors.js";

/** See `node-sqlite.d.ts`. */
export class FileStore extends SqlStore {
  constructor(path, { busyFor = 10_000 } = {}) {
    const file = resolve(inHome(path));
    const { database, againToWrite } = openFile(file, busyFor);
    super(database, { busyFor, check: watched(file), againToWrite });
  }
}
