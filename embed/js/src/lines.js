import { bytes } from "./order.js";
import { HEAD, TAIL, ends, joined } from "./shortened.js";

const [LINE_FEED, CARRIAGE_RETURN] = [10, 13];

/** Cuts a stream of bytes into lines, without ever holding more than the longest one allowed. As `host/src/transport/lines.rs`. */
export class Lines {
  #limit;
  /** What has come of the current line; only its head once it is over the limit. */
  #parts = [];
  #held = 0;
  #isTooLong = false;
  /** The end of what is passed over then, as far as it has come. */
  #tail = new Uint8Array();

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
    const [line, tail, isTooLong] = [concatenated(this.#parts), this.#tail, this.#isTooLong];
    [this.#parts, this.#held, this.#isTooLong, this.#tail] = [[], 0, false, new Uint8Array()];
    if (isTooLong) return [{ tag: "too-long", val: shortened([line, tail]) }];
    const isOver = line.length > this.#limit && line.at(-1) !== CARRIAGE_RETURN;
    return isOver ? [{ tag: "too-long", val: shortened(ends(line)) }] : whole(line, this.#limit);
  }

  #extend(part) {
    // A carriage return before the line end does not count, and may be the last byte so far.
    if (!this.#isTooLong && this.#held + part.length > this.#limit + 1) {
      this.#isTooLong = true;
      const [head, tail] = ends(concatenated(this.#parts));
      [this.#parts, this.#held, this.#tail] = [[head], head.length, tail];
    }
    if (this.#isTooLong) {
      const missing = HEAD - this.#held;
      this.#tail = concatenated([this.#tail, part.subarray(missing)]).slice(-TAIL);
      part = part.subarray(0, missing);
    }
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#held += part.length;
  }
}

/** A message as the line that it is. */
export function lineOf(message, limit) {
  const text = JSON.stringify(message);
  if (text === undefined) throw new TypeError("what came is no message");
  return bytes(text) > limit ? { tag: "too-long", val: joined(ends(text)) } : { tag: "line", val: text };
}

function concatenated(parts) {
  if (parts.length === 1) return parts[0];
  const line = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
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
    return [{ tag: "not-text", val: bytes(text) <= limit ? text : shortened(ends(line)) }];
  }
  return /^[ \t\f\r]*$/.test(val) ? [] : [{ tag: "line", val }];
}

/** The beginning of a line, up to the last whole character, and its end. */
function shortened([head, tail]) {
  const decoder = () => new TextDecoder("utf-8", { ignoreBOM: true });
  return joined([decoder().decode(head, { stream: true }), decoder().decode(tail)]);
}
