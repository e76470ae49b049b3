export interface PlaceLimits {
  readonly all: number;
  readonly perUser: number;
}

/**
 * Limits what is in flight, in total and for each user, so that no user takes all places (HL-05). A user is counted by name, over all
 * sessions, clients and addresses: the dashboards and programs of a user share that user's places.
 */
export class UserPlaces {
  readonly #limits: PlaceLimits;
  /** Only users with a place, so at most `limits.all` entries. */
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** The number of taken places. */
  get taken(): number {
    return this.#all;
  }

  /** Why there is no place for this user: `user` if the user's own limit is reached, `all` if the total limit is. */
  fullFor(user: string): 'user' | 'all' | undefined {
    if ((this.#taken.get(user) ?? 0) >= this.#limits.perUser) return 'user';
    return this.#all >= this.#limits.all ? 'all' : undefined;
  }

  /** Takes a place, after `fullFor` has been checked. The returned function gives it back, and must be called once. */
  take(user: string): () => void {
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
