import type * as storage from "../bindings/types/interfaces/acp-sessions-storage.js";

/** What an engine is lent: the interface `storage` of the WIT, synchronous. Errors are thrown as `StorageError`. */
export type Store = {
  [name in
    | "get"
    | "scan"
    | "logEnd"
    | "readLog"
    | "searchText"
    | "findText"
    | "textOwners"
    | "readTexts"
    | "logNames"
    | "commit"]: (typeof storage)[name];
};

declare const MemoryStoreBase: new () => Store;

/** A store in memory. What is in it ends with the process. */
export class MemoryStore extends MemoryStoreBase {}
