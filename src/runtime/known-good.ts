import { BoundedMap } from './bounded-map.ts';
import type { Clock } from './clock.ts';

/** A source stays known good for a day after the last success. */
const KNOWN_GOOD_MS = 24 * 3_600_000;
const KNOWN_GOOD_CAPACITY = 100_000;

/** Remembers what succeeded in the last day. Beyond the capacity, the oldest success is forgotten. */
export class KnownGood {
  readonly #until = new BoundedMap<number>(KNOWN_GOOD_CAPACITY);
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(key: string): boolean {
    const until = this.#until.get(key);
    return until !== undefined && until > this.#clock.monotonic();
  }

  /** Records a success of `ageMs` ago. */
  add(key: string, ageMs = 0): void {
    const until = this.#clock.monotonic() + KNOWN_GOOD_MS - ageMs;
    if (until >= (this.#until.get(key) ?? until)) this.#until.set(key, until);
  }
}
