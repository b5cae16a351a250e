// How a stream of bytes is cut into lines. As the tests of `host/src/transport/lines.rs`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Lines, lineOf } from "../src/lines.js";

const line = (val) => ({ tag: "line", val });
const tooLong = (val) => ({ tag: "too-long", val });
const notText = (val) => ({ tag: "not-text", val });
const latin = (text) => Uint8Array.from(text, (character) => character.charCodeAt(0));

/** Feeds a stream in chunks of each size, which must make no difference. */
function cut(limit, stream) {
  const bytes = typeof stream === "string" ? new TextEncoder().encode(stream) : stream;
  let first;
  for (let size = 1; size <= Math.min(Math.max(bytes.length, 1), 40); size++) {
    const [lines, complete] = [new Lines(limit), []];
    const chunk = new Uint8Array(size);
    for (let at = 0; at < bytes.length; at += size) {
      const piece = bytes.subarray(at, at + size);
      // The same memory for each, as some streams have it.
      chunk.set(piece);
      complete.push(...lines.push(chunk.subarray(0, piece.length)));
    }
    complete.push(...lines.finish());
    first ??= complete;
    assert.deepEqual(complete, first, `in chunks of ${size}`);
  }
  return first;
}

test("lines end at line feeds, with or without carriage returns, and the last needs no end", () => {
  assert.deepEqual(cut(100, '{"a":1}\n{"b":2}\r\n'), [line('{"a":1}'), line('{"b":2}')]);
  assert.deepEqual(cut(100, "ä\né€𝄞\n"), [line("ä"), line("é€𝄞")]);
  assert.deepEqual(cut(100, "a\n\uFEFFb"), [line("a"), line("\uFEFFb")]);
  assert.deepEqual(cut(100, ""), []);
});

test("blank lines are passed over", () => {
  assert.deepEqual(cut(100, "\n\r\n  \n\ta\n\n"), [line("\ta")]);
});

test("a line may be as long as the limit", () => {
  assert.deepEqual(cut(4, "abcd\nabcd\r\nabcd"), [line("abcd"), line("abcd"), line("abcd")]);
  const all = [tooLong("abcde"), line("ok"), tooLong("abcde\r"), tooLong("abcd\rx"), tooLong("abcde")];
  assert.deepEqual(cut(4, "abcde\nok\nabcde\r\nabcd\rx\nabcde"), all);
});

test("of a longer line only the head, up to a whole character, and the end are kept", () => {
  const long = (text) => new Lines(8000).push(new TextEncoder().encode(text));
  const [head, tail] = ["x".repeat(4096), `${"x".repeat(1023)}y`];
  assert.deepEqual(long(`${"x".repeat(20_000)}y\nnext\n`), [tooLong(`${head}\n${tail}`), line("next")]);
  assert.deepEqual(long(`x${"€".repeat(5000)}x\n`), [tooLong(`x${"€".repeat(4095 / 3)}\n${"€".repeat(341)}x`)]);
});

test("the end is what stands behind the head", () => {
  for (const [behind, limit] of [
    [0, 100],
    [1, 100],
    [1023, 4096],
    [1024, 5],
    [1025, 4103],
    [9000, 7096],
  ]) {
    const rest = "0123456789".repeat(900).slice(0, behind);
    const expected = "h".repeat(4096) + (behind === 0 ? "" : `\n${rest.slice(-1024)}`);
    const stream = new TextEncoder().encode(`${"h".repeat(4096)}${rest}\nnext\n`);
    for (const size of [1, 7, 1000, 4097, 5000, 20_000]) {
      const [lines, complete] = [new Lines(limit), []];
      for (let at = 0; at < stream.length; at += size) complete.push(...lines.push(stream.subarray(at, at + size)));
      assert.deepEqual(complete, [tooLong(expected), line("next")], `${behind} ${limit} ${size}`);
    }
  }
});

test("bytes that are not text are said to be so", () => {
  assert.deepEqual(cut(100, latin("\xff\xfe\nok\n")), [notText("\ufffd\ufffd"), line("ok")]);
  const found = new Lines(10_000).push(Uint8Array.from({ length: 10_001 }, (_, at) => (at < 10_000 ? 0xff : 10)));
  assert.deepEqual(found, [notText(`${"\ufffd".repeat(4096)}\n${"\ufffd".repeat(1024)}`)]);
});

test("a message is the line that it is written as", () => {
  // Nine characters, ten bytes.
  assert.deepEqual(lineOf({ a: "ä" }, 9), tooLong('{"a":"ä"}'));
  assert.deepEqual(lineOf({ a: "ä", b: undefined }, 10), line('{"a":"ä"}'));
  assert.throws(() => lineOf(undefined, 10), TypeError);
});
