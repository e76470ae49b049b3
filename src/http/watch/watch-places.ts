import { tooManyRequests } from '../../status-error.ts';
import type { HttpLimits } from '../limits.ts';
import type { HttpMetrics } from '../metrics.ts';

/**
 * Bounds the watches that are open at once: all of them, and those of one user (HL-05). A user is counted by name, over
 * all sessions, clients and addresses: dashboards and programs of a user share the places.
 */
export class WatchPlaces {
  readonly #limits: HttpLimits;
  readonly #metrics: HttpMetrics;
  /** Only users with an open watch, so at most `maxWatches` entries. */
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(limits: HttpLimits, metrics: HttpMetrics) {
    this.#limits = limits;
    this.#metrics = metrics;
  }

  /** How many watches are open. */
  get size(): number {
    return this.#all;
  }

  /**
   * Throws a 429 when there is no place for a watch of this user. A user whose own places are all taken is told so,
   * even when there is no place for anybody.
   */
  check(user: string): void {
    const { maxWatches, maxWatchesPerUser } = this.#limits;
    if ((this.#taken.get(user) ?? 0) >= maxWatchesPerUser) {
      this.#metrics.rejected('watches_per_user');
      throw tooManyRequests(`User "${user}" has ${maxWatchesPerUser} watches open and may have no more.`);
    }
    if (this.#all >= maxWatches) {
      this.#metrics.rejected('watches');
      throw tooManyRequests();
    }
  }

  /** Takes a place until `leave` is called, once. */
  take(user: string): () => void {
    this.#all++;
    this.#taken.set(user, (this.#taken.get(user) ?? 0) + 1);
    return () => this.#leave(user);
  }

  #leave(user: string): void {
    this.#all--;
    const left = (this.#taken.get(user) ?? 0) - 1;
    if (left > 0) this.#taken.set(user, left);
    else this.#taken.delete(user);
  }
}
