/**
 * Compares two strings as their UTF-8 bytes compare, which is how stores order names. JavaScript compares UTF-16 units,
 * and puts what lies above U+FFFF before U+E000.
 */
export function compare(a, b) {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return weight(left) - weight(right);
  }
  return a.length - b.length;
}

/** Surrogates behind all other units. */
function weight(unit) {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** How many bytes a string takes in UTF-8. */
export function bytes(text) {
  let count = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) count += 1;
    // A pair takes 4 bytes, 2 for each of its halves.
    else if (unit >= 0xd800 && unit < 0xe000) count += 1;
    else count += 2;
  }
  return count;
}

/** Keys in their order, with the values at hand. Not for millions: a new key moves those behind it. */
export class Ordered {
  #values = new Map();
  #keys = [];

  get(key) {
    return this.#values.get(key);
  }

  set(key, value) {
    if (!this.#values.has(key)) this.#keys.splice(this.place(key), 0, key);
    this.#values.set(key, value);
  }

  delete(key) {
    if (this.#values.delete(key)) this.#keys.splice(this.place(key), 1);
  }

  /** How many keys come before this one. */
  place(key) {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(this.#keys[middle], key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  keyAt(at) {
    return this.#keys[at];
  }

  /** The keys behind one, upwards; all of them behind none. */
  behind(key, limit) {
    if (key === undefined) return this.#keys.slice(0, limit);
    const at = this.place(key);
    const from = this.#keys[at] === key ? at + 1 : at;
    return this.#keys.slice(from, from + limit);
  }

  /** Keys from a place on, upwards. */
  *keys(from = 0) {
    for (let at = from; at < this.#keys.length; at++) yield this.#keys[at];
  }
}
