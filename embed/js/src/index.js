import { creating } from "./engine.js";
import { load } from "./load.js";

export { EngineError, Refused } from "./engine.js";
export { sessionLayer } from "./layer.js";
export { MemoryStore } from "./memory.js";
export { StorageError } from "./storage-error.js";
export const createEngine = creating(load);
