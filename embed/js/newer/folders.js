// Folders for stores, which go with their tests.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** In memory where the system has such a folder: most of what a small file costs is waiting for the disk. */
const MEMORY = "/dev/shm";

export function folder(test) {
  const made = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "acp-sessions-"));
  test.after(() => rmSync(made, { recursive: true }));
  return made;
}
