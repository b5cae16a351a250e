// What `cargo xtask bench embeds` tells a driver on its input, one JSON a line, and is answered.

import { createInterface } from "node:readline";

/** Answers each command with what comes of it, until there are no more. */
export async function answerCommands(perform) {
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await perform(JSON.parse(line)))}\n`);
  }
}
