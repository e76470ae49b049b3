import { tooManyRequests } from '../../status-error.ts';
import type { HttpLimits } from '../limits.ts';
import type { HttpMetrics } from '../metrics.ts';
import { UserPlaces } from '../user-places.ts';

/** Limits the number of open watches, in total and for each user (HL-05). */
export class WatchPlaces {
  readonly #limits: HttpLimits;
  readonly #metrics: HttpMetrics;
  readonly #places: UserPlaces;

  constructor(limits: HttpLimits, metrics: HttpMetrics) {
    this.#limits = limits;
    this.#metrics = metrics;
    this.#places = new UserPlaces({ all: limits.maxWatches, perUser: limits.maxWatchesPerUser });
  }

  /** How many watches are open. */
  get size(): number {
    return this.#places.taken;
  }

  /**
   * Throws a 429 when this user may open no further watch. If both limits are reached, the message is that of the user's own limit.
   */
  check(user: string): void {
    const full = this.#places.fullFor(user);
    if (full === 'user') {
      this.#metrics.rejected('watches_per_user');
      throw tooManyRequests(`User "${user}" has ${this.#limits.maxWatchesPerUser} watches open and may have no more.`);
    }
    if (full === 'all') {
      this.#metrics.rejected('watches');
      throw tooManyRequests();
    }
  }

  /** Takes a place. The returned function gives it back, and must be called once. */
  take(user: string): () => void {
    return this.#places.take(user);
  }
}
