import { BoundedMap } from './bounded-map.ts';
import type { Clock } from './clock.ts';

/** How long `RecentReports` remembers a report. */
const REPEATED_AFTER_MS = 60_000;
/** Beyond this the oldest entry is forgotten: nobody reads reports about so many at a time. */
const CAPACITY = 1_000;

/** Remembers what was reported within the last minute, so that a log says it once. */
export class RecentReports {
  readonly #clock: Clock;
  readonly #reportedAt = new BoundedMap<number>(CAPACITY);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether this was not reported within the last minute. The caller must report it now. */
  isNews(what: string): boolean {
    const now = this.#clock.monotonic();
    const reportedAt = this.#reportedAt.get(what);
    if (reportedAt !== undefined && now - reportedAt < REPEATED_AFTER_MS) return false;
    this.#reportedAt.set(what, now);
    return true;
  }
}
