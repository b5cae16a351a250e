import { Ordered, compare } from "./order.js";

/** The searchable texts of a store in memory, with an index of which texts hold each word. */
export class Texts {
  /** Owner, then part, then tokens. */
  #owners = new Ordered();
  /** Word, then owner, then the parts that hold it. */
  #words = new Ordered();

  put(owner, part, tokens) {
    this.#remove(owner, part);
    if (tokens === "") return;
    let parts = this.#owners.get(owner);
    if (!parts) this.#owners.set(owner, (parts = new Map()));
    parts.set(part, tokens);
    for (const word of new Set(tokens.split(" "))) {
      let owners = this.#words.get(word);
      if (!owners) this.#words.set(word, (owners = new Map()));
      const held = owners.get(owner);
      if (held) held.add(part);
      else owners.set(owner, new Set([part]));
    }
  }

  drop(owner, start) {
    for (const part of [...(this.#owners.get(owner)?.keys() ?? [])]) {
      if (part >= start) this.#remove(owner, part);
    }
  }

  #remove(owner, part) {
    const parts = this.#owners.get(owner);
    const tokens = parts?.get(part);
    if (tokens === undefined) return;
    parts.delete(part);
    if (parts.size === 0) this.#owners.delete(owner);
    for (const word of new Set(tokens.split(" "))) {
      const owners = this.#words.get(word);
      const held = owners.get(owner);
      held.delete(part);
      if (held.size === 0) owners.delete(owner);
      if (owners.size === 0) this.#words.delete(word);
    }
  }

  /** The owners behind a name, in their order. */
  owners(after, limit) {
    return this.#owners.behind(after, limit);
  }

  /** An owner's texts in the order of their parts. */
  of(owner) {
    const parts = [...(this.#owners.get(owner) ?? [])];
    return parts.sort(([a], [b]) => a - b).map(([part, tokens]) => ({ owner, part, tokens }));
  }

  /** The words that the last token of a term stands for, as maps from owner to parts. */
  #standsFor(word, prefix) {
    if (!prefix) return [this.#words.get(word)].filter(Boolean);
    const found = [];
    for (const candidate of this.#words.keys(this.#words.place(word))) {
      if (!candidate.startsWith(word)) break;
      found.push(this.#words.get(candidate));
    }
    return found;
  }

  /** For each token of a term the maps from owner to parts that may hold it. */
  #places({ tokens, prefix }) {
    return tokens.map((token, at) => this.#standsFor(token, prefix && at === tokens.length - 1));
  }

  /** The parts of an owner that hold the term, by what `#places` found, in no order. */
  #partsWith(term, places, owner) {
    let fewest;
    for (const maps of places) {
      const parts = new Set();
      // Where a beginning stands for more words than the owner has texts, reading the texts costs less.
      const most = this.#owners.get(owner)?.size ?? 0;
      if (maps.length > most + 1) continue;
      for (const map of maps) for (const part of map.get(owner) ?? []) parts.add(part);
      if (!fewest || parts.size < fewest.size) fewest = parts;
    }
    const texts = this.#owners.get(owner);
    fewest ??= new Set(texts?.keys());
    if (places.length === 1 && places[0].length <= (texts?.size ?? 0) + 1) return [...fewest];
    return [...fewest].filter((part) => holds(texts.get(part), term));
  }

  /** The first part of each scope that holds the term. */
  find(term, scopes) {
    const places = this.#places(term);
    if (places.some((maps) => maps.length === 0)) return scopes.map(() => undefined);
    return scopes.map(({ owner, until }) => {
      let first;
      for (const part of this.#partsWith(term, places, owner)) {
        if (part <= until && (first === undefined || part < first)) first = part;
      }
      return first;
    });
  }

  /** Where the term is found: owners by name backwards, and of each the last part first. */
  search(term, after, limit) {
    const places = this.#places(term);
    if (places.some((maps) => maps.length === 0)) return [];
    const rarest = places.reduce((a, b) => (size(b) < size(a) ? b : a));
    const owners = new Set();
    for (const map of rarest) for (const owner of map.keys()) owners.add(owner);
    const hits = [];
    for (const owner of [...owners].sort((a, b) => compare(b, a))) {
      const ordered = after === undefined ? -1 : compare(owner, after.owner);
      if (ordered > 0) continue;
      for (const part of this.#partsWith(term, places, owner).sort((a, b) => b - a)) {
        if (ordered === 0 && part >= after.part) continue;
        if (hits.length >= limit) return hits;
        hits.push({ owner, part });
      }
    }
    return hits;
  }
}

function size(maps) {
  return maps.reduce((sum, map) => sum + map.size, 0);
}

/** Whether a text holds the tokens of a term one after the other. */
function holds(text, { tokens, prefix }) {
  const words = text.split(" ");
  const last = tokens.length - 1;
  for (let from = 0; from + last < words.length; from++) {
    const same = tokens.every((token, at) => {
      const word = words[from + at];
      return prefix && at === last ? word.startsWith(token) : word === token;
    });
    if (same) return true;
  }
  return false;
}
