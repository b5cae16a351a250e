/** Of a line that is too long, this much is kept of its beginning and of its end, in bytes, to say which it was. */
export const HEAD = 4096;
export const TAIL = 1024;

/** What is kept of a line at its beginning, and at its end behind that: of bytes or of a text. */
export function ends(line) {
  return [line.slice(0, HEAD), line.slice(Math.max(HEAD, line.length - TAIL))];
}

/** What lacks its middle has a line feed there, which no line has. */
export function joined([head, tail]) {
  return tail === "" ? head : `${head}\n${tail}`;
}
