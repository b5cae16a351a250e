#!/usr/bin/env node
// Starts the program, which is in a package of its own for each kind of machine.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";

const name = `acp-sessions-${process.platform}-${process.arch}`;
let program;
try {
  program = createRequire(import.meta.url).resolve(`${name}/bin/acp-sessions`);
} catch {
  console.error(`acp-sessions: there is no program for ${process.platform} on ${process.arch} here: ${name} is not installed`);
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// Whoever ends this one means the program. What a terminal sends, both are sent.
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
process.on("SIGINT", () => {});
child.on("error", (error) => {
  console.error(`acp-sessions: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
