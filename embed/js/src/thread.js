// The thread of an instance: it makes the calls that it is told of, and asks for the store, which is on the other side.

import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";

import { fillRandom } from "./engine.js";
import { FUNCTIONS, newInstance } from "./instance.js";
import { StorageError } from "./storage-error.js";

const { modules, folder, port, signal, asksNow, asksRandom, knows } = workerData;
const { instantiate } = await import(new URL("engine.js", folder));

/** Asks the other side, and waits. */
function ask(name, ...args) {
  port.postMessage({ name, args });
  Atomics.wait(signal, 0, 0);
  Atomics.store(signal, 0, 0);
  const { value, payload, lost } = receiveMessageOnPort(port).message;
  if (payload) throw new StorageError(payload.tag, payload.val);
  if (lost !== undefined) throw new Error(lost);
  return value;
}

const store = Object.fromEntries(FUNCTIONS.map((name) => [name, (...args) => ask(name, ...args)]));
const now = asksNow ? () => ask("now") : Date.now;
const random = asksRandom ? (bytes) => bytes.set(ask("random", bytes.length)) : fillRandom;
const folders = Object.fromEntries(knows.map((name) => [name, (...args) => ask(name, ...args)]));
let instance;

parentPort.on("message", ({ place, name, args }) => {
  let answered;
  try {
    instance ??= newInstance({ instantiate, modules }, store, now, random, folders);
    answered = { value: instance[place][name](...args) };
  } catch (error) {
    answered = error?.payload ? { payload: error.payload } : { lost: String(error?.message ?? error) };
  }
  parentPort.postMessage(answered);
});
parentPort.postMessage({ ready: true });
