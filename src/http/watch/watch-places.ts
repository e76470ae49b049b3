import { tooManyRequests } from '../../status-error.ts';
import type { HttpLimits } from '../limits.ts';
import type { HttpMetrics } from '../metrics.ts';
import { UserPlaces } from '../user-places.ts';

/** Bounds the watches that are open at once: all of them, and those of one user (HL-05). */
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
   * Throws a 429 when there is no place for a watch of this user. A user whose own places are all taken gets that message,
   * even when there is no place for anybody.
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

  /** Takes a place until `leave` is called, once. */
  take(user: string): () => void {
    return this.#places.take(user);
  }
}
