import type { Clock } from './clock.ts';

/** What goes on is told again each minute. */
const AGAIN_AFTER_MS = 60_000;
/** Whoever has gone again is forgotten: what is told of so many at a time is read by nobody. */
const CAPACITY = 1_000;

/** What was told within the last minute, so that a log says it once. */
export class ToldLately {
  readonly #clock: Clock;
  /** Told last, last. */
  readonly #toldAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether this was not told within the last minute. Whoever asks tells it now. */
  isNews(what: string): boolean {
    const now = this.#clock.monotonic();
    const toldAt = this.#toldAt.get(what);
    if (toldAt !== undefined && now - toldAt < AGAIN_AFTER_MS) return false;
    this.#toldAt.delete(what);
    this.#toldAt.set(what, now);
    const [oldest] = this.#toldAt.keys();
    if (this.#toldAt.size > CAPACITY && oldest !== undefined) this.#toldAt.delete(oldest);
    return true;
  }
}
