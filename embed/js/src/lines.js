import { bytes } from "./order.js";

/** Of a line that is too long, this much is kept, in bytes, to say which it was. */
const HEAD = 4096;
const [LINE_FEED, CARRIAGE_RETURN] = [10, 13];

/** Cuts a stream of bytes into lines, without ever holding more than the longest one allowed. As `host/src/transport/lines.rs`. */
export class Lines {
  #limit;
  /** What has come of the current line; only its head once it is over the limit. */
  #parts = [];
  #held = 0;
  #isTooLong = false;

  /** For a stream whose lines may have up to `limit` bytes. */
  constructor(limit) {
    this.#limit = limit;
  }

  /** Takes the next bytes of the stream; returns the lines that they complete. */
  push(chunk) {
    const complete = [];
    let from = 0;
    for (let end; (end = chunk.indexOf(LINE_FEED, from)) >= 0; from = end + 1) {
      this.#extend(chunk.subarray(from, end));
      complete.push(...this.finish());
    }
    // A copy: the chunk is its giver's again when this returns.
    this.#extend(chunk.slice(from));
    return complete;
  }

  /** What there is of the current line is all of it: the line, where there is one. */
  finish() {
    const line = joined(this.#parts, this.#held);
    const isOver = this.#isTooLong || (line.length > this.#limit && line.at(-1) !== CARRIAGE_RETURN);
    [this.#parts, this.#held, this.#isTooLong] = [[], 0, false];
    return isOver ? [{ tag: "too-long", val: head(line) }] : whole(line, this.#limit);
  }

  #extend(part) {
    // A carriage return before the line end does not count, and may be the last byte so far.
    if (!this.#isTooLong && this.#held + part.length > this.#limit + 1) this.#isTooLong = true;
    if (this.#isTooLong) part = part.subarray(0, Math.max(0, HEAD - this.#held));
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#held += part.length;
  }
}

/** A message as the line that it is. */
export function lineOf(message, limit) {
  const text = JSON.stringify(message);
  if (text === undefined) throw new TypeError("what came is no message");
  return bytes(text) > limit ? { tag: "too-long", val: text.slice(0, HEAD) } : { tag: "line", val: text };
}

function joined(parts, length) {
  if (parts.length === 1) return parts[0];
  const line = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    line.set(part, at);
    at += part.length;
  }
  return line;
}

/** A line within the limit; nothing for a blank one. */
function whole(line, limit) {
  if (line.at(-1) === CARRIAGE_RETURN) line = line.subarray(0, -1);
  let val;
  try {
    val = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line);
  } catch {
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(line);
    return [{ tag: "not-text", val: bytes(text) <= limit ? text : head(line) }];
  }
  return /^[ \t\f\r]*$/.test(val) ? [] : [{ tag: "line", val }];
}

/** The beginning of a line, up to the last whole character. */
function head(line) {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(line.subarray(0, HEAD), { stream: true });
}
