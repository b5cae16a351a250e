import type * as storage from "../bindings/types/interfaces/acp-sessions-storage.js";

/**
 * What an engine is lent: the interface `storage` of the WIT, synchronous. Errors are thrown as `StorageError`. What `searchText` finds
 * is given text by text.
 */
export type Store = {
  [name in
    | "get"
    | "scan"
    | "logEnd"
    | "readLog"
    | "findText"
    | "textOwners"
    | "readTexts"
    | "logNames"
    | "commit"]: (typeof storage)[name];
} & {
  searchText(term: storage.TextTerm, after: storage.TextHit | undefined, limit: number): storage.TextHit[];
};

declare const MemoryStoreBase: new () => Store;

/** A store in memory. What is in it ends with the process. */
export class MemoryStore extends MemoryStoreBase {}
