import { tooManyRequests } from '../../status-error.ts';

export interface UserSeatLimits {
  readonly all: number;
  readonly perUser: number;
  /** Counts a refusal: by the limit of the user, or by that of all. */
  refused(isPerUser: boolean): void;
  /** The message for a user whose own limit is reached. Default: that of every 429. */
  readonly messageFor?: (user: string) => string;
}

/**
 * Limits what is in flight, in total and for each user, so that no user takes all seats (HL-05). A user is counted by name, over all
 * sessions, clients and addresses: the dashboards and programs of a user share that user's seats.
 */
export class UserSeats {
  readonly #limits: UserSeatLimits;
  /** Only users with a seat, so at most `limits.all` entries. */
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(limits: UserSeatLimits) {
    this.#limits = limits;
  }

  /** The number of taken seats. */
  get taken(): number {
    return this.#all;
  }

  /** Throws a 429 if there is no seat for this user. If both limits are reached, the refusal is that of the user's own limit. */
  check(user: string): void {
    const { all, perUser, messageFor } = this.#limits;
    const isPerUser = (this.#taken.get(user) ?? 0) >= perUser;
    if (!isPerUser && this.#all < all) return;
    this.#limits.refused(isPerUser);
    throw tooManyRequests(isPerUser ? messageFor?.(user) : undefined);
  }

  /** Takes a seat for this user. The returned function gives it back, and must be called once. Throws a 429 if there is none. */
  take(user: string): () => void {
    this.check(user);
    this.#all += 1;
    this.#taken.set(user, (this.#taken.get(user) ?? 0) + 1);
    return () => this.#leave(user);
  }

  #leave(user: string): void {
    this.#all -= 1;
    const left = (this.#taken.get(user) ?? 0) - 1;
    if (left > 0) this.#taken.set(user, left);
    else this.#taken.delete(user);
  }
}
