export { EngineError, Refused, createEngine } from "./engine.js";
export { sessionLayer } from "./layer.js";
export { MemoryStore } from "./memory.js";
export { StorageError } from "./storage-error.js";
