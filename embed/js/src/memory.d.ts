import type * as storage from "../bindings/types/interfaces/acp-sessions-storage.js";

/**
 * What an engine is lent: the interface `storage` of the WIT, which says what each function promises. They answer at once, and no promise.
 * Errors are thrown as `StorageError`. What `searchText` finds is given text by text.
 */
export interface Store {
  get(keys: string[]): Array<string | undefined>;
  scan(start: string, end: string, descending: boolean, limit: number, maxBytes: number): storage.RecordPage;
  logEnd(log: string): number;
  readLog(log: string, start: number, limit: number, maxBytes: number): storage.LogPage;
  searchText(term: storage.TextTerm, after: storage.TextHit | undefined, limit: number): storage.TextHit[];
  findText(term: storage.TextTerm, scopes: storage.TextScope[]): Array<number | undefined>;
  textOwners(after: string | undefined, limit: number): string[];
  readTexts(owner: string, start: number, limit: number, maxBytes: number): storage.TextPage;
  logNames(after: string | undefined, limit: number): string[];
  commit(expected: storage.Expectation[], writes: storage.Write[], durability: storage.Durability): void;
}

declare const MemoryStoreBase: new () => Store;

/** A store in memory. What is in it ends with the process. */
export class MemoryStore extends MemoryStoreBase {}
