// A term in FTS5's own language, and without it.

import { readable, row } from "./reading.js";

/** Prefixes up to so many characters have an index of their own. */
const INDEXED_PREFIX = 3;

/**
 * A longer prefix is taken for the tokens that begin with it, up to this many. FTS5 would join all that is known of them before it gives the
 * first hit; one by one they give hits at once.
 */
const MOST_TOKENS = 64;

/** Whether the term ends in a prefix that has no index. */
export function isLongerPrefix({ tokens, prefix }) {
  return prefix && tokens.length > 0 && [...tokens.at(-1)].length > INDEXED_PREFIX;
}

/** What to ask FTS5 for; none if nothing can hold the term. */
export function query(database, term) {
  if (!isLongerPrefix(term)) return literal(term);
  const found = tokensWithPrefix(database, term.tokens.at(-1));
  if (found === undefined) return literal(term);
  const phrases = found.map((token) => literal({ tokens: [...term.tokens.slice(0, -1), token], prefix: false }));
  return phrases.length > 0 ? phrases.join(" OR ") : undefined;
}

/** The term as it stands: always one quoted phrase, so that nothing in a token is taken for syntax. */
export function literal({ tokens, prefix }) {
  const phrase = tokens.join(" ").replaceAll('"', '""');
  return prefix ? `"${phrase}" *` : `"${phrase}"`;
}

/** The tokens that begin so, each once; none if there are too many. */
function tokensWithPrefix(database, prefix) {
  // The vocabulary has a row for every time that a token is used. Asking for one row after another token steps over them.
  const sql = "SELECT CAST(term AS BLOB) FROM vocabulary WHERE term >= ? AND term < ? LIMIT 1";
  const end = `${prefix}\u{10ffff}`;
  const tokens = [];
  for (let start = prefix; ; ) {
    const found = row(database, sql, start, end);
    if (!found) return tokens;
    if (tokens.length === MOST_TOKENS) return undefined;
    const token = readable(found[0]);
    // Below every other token that begins with this one: tokens hold no control characters.
    start = `${token}\u0001`;
    tokens.push(token);
  }
}

/** Whether tokens, separated by single spaces, hold a term. */
export function holds(text, { tokens, prefix }) {
  const phrase = tokens.join(" ");
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    const behind = at + phrase.length;
    const begins = at === 0 || text[at - 1] === " ";
    if (begins && (prefix || behind === text.length || text[behind] === " ")) return true;
  }
  return false;
}
