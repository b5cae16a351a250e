// Requests that no instance could answer: the embedder says so itself, in the least words. As `host/src/engine/unanswered.rs`.

/** The outputs that answer the requests among these arrivals, as far as they can be read. */
export function refusals(arrivals) {
  return arrivals.flatMap(({ peer, content }) => {
    const id = content.tag === "line" ? requestId(content.val) : undefined;
    if (id === undefined) return [];
    const error = '{"code":-32603,"message":"The session engine failed at this request"}';
    const val = `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
    return [{ tag: peer === "client" ? "to-client" : "to-agent", val }];
  });
}

/** The id of a request as it is written, so that no number is rounded. None of what is no request. */
function requestId(line) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof message !== "object" || message === null || Array.isArray(message)) return undefined;
  if (!("method" in message) || !("id" in message)) return undefined;
  if (typeof message.id !== "number") return JSON.stringify(message.id);
  return memberAsWritten(line, "id");
}

/** The value of an object's own member, of an object that is valid JSON; the last one where there are several. */
function memberAsWritten(line, name) {
  let [depth, found, key, at] = [0, undefined, undefined, 0];
  while (at < line.length) {
    const start = at;
    const character = line[at++];
    if (character === '"') {
      while (line[at] !== '"') at += line[at] === "\\" ? 2 : 1;
      at++;
      // At this depth a text is a name where a colon follows.
      if (depth === 1 && /^\s*:/.test(line.slice(at, at + 64))) key = JSON.parse(line.slice(start, at));
    } else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
    else if (depth === 1 && key === name && /[-0-9]/.test(character)) {
      while (/[-+.0-9eE]/.test(line[at])) at++;
      found = line.slice(start, at);
      key = undefined;
    } else if (character === "," && depth === 1) key = undefined;
  }
  return found;
}
