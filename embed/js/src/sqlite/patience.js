// How long a store waits for other processes: each time as long as is left of a stock that time refills. A call of the engine's reads and
// writes many times, and what each of these waits must not add up to the end of the call's time. Where others write all the time without
// holding the store for long, each wait ends well, and there is always half of the stock for the next one: who gets on is not refused for
// having waited often.

/** However much was waited before, a store waits this long, in milliseconds. */
export const LEAST = 50;

export class Patience {
  #most;
  #left;
  /** When it was last taken from. */
  #since;
  /** The last wait ended well. */
  #getsOn = false;

  /** A full stock, in milliseconds. */
  constructor(most, now) {
    [this.#most, this.#left, this.#since] = [most, most, now];
  }

  /** How long a wait that begins now may last. */
  begin(now) {
    this.#left = Math.min(this.#most, this.#left + Math.max(0, now - this.#since));
    this.#since = now;
    const least = this.#getsOn ? this.#most / 2 : LEAST;
    return Math.min(Math.max(this.#left, least), this.#most);
  }

  /** The wait that began last is over; `well`: what was waited for was had. */
  end(now, well) {
    this.#getsOn = well;
    this.#left = Math.max(0, this.#left - Math.max(0, now - this.#since));
    this.#since = now;
  }
}
