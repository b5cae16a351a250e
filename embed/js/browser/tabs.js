// Tabs of a browser that keeps what is stored, each in a process of its own.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { chromium } from "playwright-core";

/** Starts a browser with a profile of its own. CHROMIUM says where it is, if it is not where Debian has it. */
export async function startBrowser(url) {
  const profile = await mkdtemp(join(tmpdir(), "acp-sessions-"));
  // Its sandbox does not work for root.
  const chromiumSandbox = process.getuid() !== 0;
  const context = await chromium.launchPersistentContext(profile, { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", chromiumSandbox });
  return {
    context,
    tab: async () => new Tab(context, await visited(context, url)),
    async end() {
      await context.close();
      await rm(profile, { recursive: true });
    },
  };
}

async function visited(context, url) {
  const page = await context.newPage();
  page.on("pageerror", (error) => console.error(error));
  await page.goto(url);
  return page;
}

export class Tab {
  #context;
  page;

  constructor(context, page) {
    [this.#context, this.page] = [context, page];
  }

  /** Calls a function of `opfs-page.js`. */
  do(name, ...args) {
    return this.page.evaluate(async ([name, args]) => (await import("/browser/opfs-page.js"))[name](...args), [name, args]);
  }

  close() {
    return this.page.close();
  }

  /** Asks the browser something by its own protocol. */
  async ask(method, params) {
    return (await this.#context.newCDPSession(this.page)).send(method, params);
  }

  get #worker() {
    return this.page.workers().find((one) => one.url().endsWith("/opfs/worker.js"));
  }

  /** From now on it is always now in the worker of this tab, for engines that are made later. */
  stopClock() {
    return this.#worker.evaluate(() => {
      const now = Date.now();
      Date.now = () => now;
    });
  }

  /** Has the worker of this tab do something that it does not come back from; comes when it is at it. */
  async inWorker(what) {
    const isAtIt = this.#context.waitForEvent("console", (message) => message.text() === what);
    // Not at once: what a debugger does is not interrupted.
    await this.#worker.evaluate((what) => {
      setTimeout(() => {
        console.log(what);
        if (what === "ends") close();
        else for (;;);
      });
    }, what);
    await isAtIt;
  }

  /** Kills its process, as a crash does. */
  async kill() {
    const session = await this.#context.newCDPSession(this.page);
    const crashed = new Promise((resolve) => this.page.once("crash", resolve));
    // Nobody is left to answer.
    session.send("Page.crash").catch(() => {});
    await crashed;
  }
}
