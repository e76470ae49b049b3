import { BoundedMap } from './bounded-map.ts';
import type { Clock } from './clock.ts';

/** Something that goes on is reported again each minute. */
const AGAIN_AFTER_MS = 60_000;
/** The oldest entry is forgotten above this: nobody reads reports about so many at a time. */
const CAPACITY = 1_000;

/** Remembers what was reported within the last minute, so that a log says it once. */
export class ToldLately {
  readonly #clock: Clock;
  readonly #toldAt = new BoundedMap<number>(CAPACITY);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether this was not reported within the last minute. The caller must report it now. */
  isNews(what: string): boolean {
    const now = this.#clock.monotonic();
    const toldAt = this.#toldAt.get(what);
    if (toldAt !== undefined && now - toldAt < AGAIN_AFTER_MS) return false;
    this.#toldAt.set(what, now);
    return true;
  }
}
