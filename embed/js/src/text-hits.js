import { bytes } from "./order.js";

/**
 * What a search has found as the WIT has it: the names of the owners in one string, where each ends, and the parts.
 *
 * @param {{ owner: string, part: number }[]} hits
 */
export function textHits(hits) {
  const names = [];
  const ends = new Uint32Array(hits.length);
  let owner;
  let end = 0;
  for (const [nth, hit] of hits.entries()) {
    if (hit.owner !== owner) {
      owner = hit.owner;
      names.push(owner);
      end += bytes(owner);
    }
    ends[nth] = end;
  }
  return { owners: names.join(""), ends, parts: Uint32Array.from(hits, ({ part }) => part) };
}
