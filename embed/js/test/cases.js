// The cases of the contract of storages.

import { readFile, readdir } from "node:fs/promises";

/** All cases, as pairs of name and case. */
export async function cases(folder = new URL("../../../tests/storage/", import.meta.url)) {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".json")).sort();
  return Promise.all(names.map(async (name) => [name, JSON.parse(await readFile(new URL(name, folder), "utf8"))]));
}
