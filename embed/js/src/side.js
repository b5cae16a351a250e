// The streams of one side of a connection: what comes from it is read only while it is wanted, and what goes to it waits here
// until the stream has taken it.

import { Lines, lineOf } from "./lines.js";
import { bytes } from "./order.js";

/** Lines that wait are written as pieces of about so many bytes. */
const PIECE = 64 << 10;

/** What comes from one side. */
export class Input {
  /** Nothing more comes, and all that came was given. */
  hasEnded = false;
  /** With what the stream failed, if it did. */
  error;
  #reader;
  #limit;
  #isWanted = false;
  #resume = () => {};

  /**
   * @param {ReadableStream} stream of bytes (`Uint8Array`), texts, or messages as objects
   * @param {number} limit the longest line, in bytes
   * @param {(contents: object[]) => void} give is given what came
   * @param {() => void} tell is told of the end
   */
  constructor(stream, limit, give, tell) {
    [this.#reader, this.#limit] = [stream.getReader(), limit];
    this.#read(give, tell);
  }

  /** Whether the next piece is to be read. What was begun to be read comes all the same. */
  want(isWanted) {
    this.#isWanted = isWanted;
    if (isWanted) this.#resume();
  }

  /** Nothing more is taken; what comes all the same is nobody's. */
  refuse() {
    this.hasEnded = true;
    this.#resume();
    // The other side may have failed meanwhile, which is of no interest any more.
    this.#reader.cancel().catch(() => {});
  }

  async #read(give, tell) {
    const [lines, encoder] = [new Lines(this.#limit), new TextEncoder()];
    const contents = (chunk) => {
      if (chunk instanceof Uint8Array) return lines.push(chunk);
      if (typeof chunk === "string") return lines.push(encoder.encode(chunk));
      return [lineOf(chunk, this.#limit)];
    };
    try {
      for (;;) {
        while (!this.#isWanted && !this.hasEnded) await new Promise((resolve) => (this.#resume = resolve));
        const { value, done } = await this.#reader.read();
        if (this.hasEnded) return;
        if (done) break;
        give(contents(value));
      }
    } catch (error) {
      this.error = error;
      this.#reader.cancel(error).catch(() => {});
    }
    if (this.hasEnded) return;
    give(lines.finish());
    this.hasEnded = true;
    tell();
  }
}

/** What goes to one side. */
export class Output {
  /** How many bytes wait for it, what it is being given included. */
  queued = 0;
  /** It takes nothing any more, and not because it was told that this is the end. */
  isDeaf = false;
  /** Nothing more is to go to it. */
  isClosed = false;
  /** Comes when it has taken all and was told the end, or takes nothing any more. */
  done;
  #writer;
  #lines = [];
  #isWriting = false;
  #inBytes;
  #tell;
  #finish;

  /**
   * @param {WritableStream} stream
   * @param {boolean} inBytes whether it takes bytes; otherwise it takes messages as objects
   * @param {() => void} tell is told when there is more room, and when it goes deaf
   */
  constructor(stream, inBytes, tell) {
    [this.#writer, this.#inBytes, this.#tell] = [stream.getWriter(), inBytes, tell];
    this.done = new Promise((resolve) => (this.#finish = resolve));
    const ended = () => this.#end();
    this.#writer.closed.then(ended, ended);
  }

  push(line) {
    if (this.isClosed || this.isDeaf) return;
    this.#lines.push(line);
    this.queued += bytes(line) + 1;
    this.#write();
  }

  /** It is told the end when it has taken what waits. */
  close() {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#write();
  }

  /** It is told the end at once; what waits is lost. */
  leave() {
    const isWaiting = this.queued > 0;
    this.close();
    if (isWaiting) this.#writer.abort(new Error("what was said last was not read in time")).catch(() => {});
    // A stream that is at a write says nothing before that is over, which may be never.
    this.#end();
  }

  #end() {
    if (!this.isClosed) this.isDeaf = true;
    [this.#lines, this.queued] = [[], 0];
    this.#finish();
    this.#tell();
  }

  async #write() {
    if (this.#isWriting) return;
    this.#isWriting = true;
    try {
      while (this.#lines.length > 0) {
        const [chunk, size] = this.#next();
        await this.#writer.write(chunk);
        this.queued = Math.max(0, this.queued - size);
        this.#tell();
      }
      if (this.isClosed) await this.#writer.close();
    } catch (error) {
      // Where it is not the stream that failed, it is told.
      this.#writer.abort(error).catch(() => {});
    }
    this.#isWriting = false;
  }

  /** What is written next, and how many bytes of what waits that is. */
  #next() {
    if (!this.#inBytes) {
      const line = this.#lines.shift();
      return [JSON.parse(line), bytes(line) + 1];
    }
    let [count, units] = [0, 0];
    while (count < this.#lines.length && (count === 0 || units + this.#lines[count].length < PIECE)) {
      units += this.#lines[count++].length + 1;
    }
    const chunk = new TextEncoder().encode(`${this.#lines.splice(0, count).join("\n")}\n`);
    return [chunk, chunk.length];
  }
}
