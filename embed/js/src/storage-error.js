/**
 * How a store says that it did not do what it was asked: an error of the WIT, which the engine answers or tries again.
 * Whatever else a store throws loses the instance.
 */
export class StorageError extends Error {
  /**
   * @param {string} tag `conflict`, `too-large`, `full`, `read-only`, `corrupt`, `unavailable` or `unsupported`
   * @param {string} [text] what people are told, of the last but `unsupported`
   */
  constructor(tag, text) {
    super(text ? `${tag}: ${text}` : tag);
    this.name = "StorageError";
    /** What the bindings hand to the engine. */
    this.payload = { tag, val: text };
  }
}
