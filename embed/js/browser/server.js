// Serves what a page of the tests needs, on this machine alone: this package, the official SDK, and the conformance corpus.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { once } from "node:events";

const ROOTS = {
  "/corpus/": new URL("../../../tests/corpus/", import.meta.url),
  "/": new URL("../", import.meta.url),
};
const TYPES = { html: "text/html", js: "text/javascript", mjs: "text/javascript", json: "application/json", wasm: "application/wasm" };

/** Begins to serve; returns where, what was asked for, and how to end it. */
export async function serve() {
  const asked = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    asked.push(pathname);
    const [prefix, root] = Object.entries(ROOTS).find(([prefix]) => pathname.startsWith(prefix));
    try {
      const body = await readFile(new URL(pathname.slice(prefix.length) || "browser/page.html", root));
      const type = TYPES[/\.(\w+)$/.exec(pathname)?.[1] ?? "html"] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}/`, asked, end: () => server.close() };
}
