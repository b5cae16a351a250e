import { instantiate } from "../bindings/engine.js";

// Written out, as tools that gather what a page needs look for them.
const MODULES = {
  "engine.core.wasm": new URL("../bindings/web/engine.core.wasm", import.meta.url),
  "engine.core2.wasm": new URL("../bindings/engine.core2.wasm", import.meta.url),
  "engine.core3.wasm": new URL("../bindings/engine.core3.wasm", import.meta.url),
};

/** The bindings, with the engine as it is built for the web. */
export async function load() {
  const compiled = Object.entries(MODULES).map(async ([name, url]) => [name, await compile(url)]);
  return { instantiate, modules: new Map(await Promise.all(compiled)) };
}

/** Compiles while it comes, where its server says what it is. */
async function compile(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  const isSaid = response.headers.get("content-type")?.startsWith("application/wasm");
  return isSaid ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}
