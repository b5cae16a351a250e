import { readFile, readdir } from "node:fs/promises";

/** The bindings in a folder, their core modules compiled. */
export async function load(folder = new URL("../bindings/", import.meta.url)) {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".wasm"));
  const compiled = names.map(async (name) => [name, await WebAssembly.compile(await readFile(new URL(name, folder)))]);
  const { instantiate } = await import(new URL("engine.js", folder));
  return { instantiate, folder, modules: new Map(await Promise.all(compiled)) };
}
