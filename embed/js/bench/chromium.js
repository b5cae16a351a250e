// An engine in a page of Chromium that is played to, over a store in memory or in the origin's private file system:
// node bench/chromium.js memory|opfs
//
// A command with `start` opens a page of its own for what is played from then on. What that takes counts: the page, the package's scripts and its
// engine are fetched from this machine. That the browser has been started does not.

import { serve } from "../browser/server.js";
import { startBrowser } from "../browser/tabs.js";
import { answerCommands } from "./commands.js";

const [kind] = process.argv.slice(2);
const server = await serve();
const browser = await startBrowser(server.url);
let page;

async function inPage(name, ...args) {
  return page.evaluate(async ([name, args]) => (await import("/bench/page.js"))[name](...args), [name, args]);
}

async function begin(part) {
  if (page) {
    await inPage("leave");
    await page.close();
  }
  page = await browser.context.newPage();
  page.on("pageerror", (error) => console.error(error));
  const start = performance.now();
  await page.goto(server.url);
  const played = await inPage("begin", kind, part);
  return { ...played, ms: performance.now() - start };
}

await answerCommands(({ start, ...part }) => (start ? begin(part) : inPage("goOn", part)));
await browser.end();
server.end();
