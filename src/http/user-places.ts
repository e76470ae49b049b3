export interface PlaceLimits {
  readonly all: number;
  readonly perUser: number;
}

/**
 * Counts what is under way at once, in all and by user, so that nobody takes all places alone (HL-05). A user is counted by
 * name, over all sessions, clients and addresses: dashboards and programs of a user share the places.
 */
export class UserPlaces {
  readonly #limits: PlaceLimits;
  /** Only users with a place, so at most `limits.all` entries. */
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** How many places are taken. */
  get taken(): number {
    return this.#all;
  }

  /** Why there is no place for this user: the user has as many as one may have, or all are taken. */
  fullFor(user: string): 'user' | 'all' | undefined {
    if ((this.#taken.get(user) ?? 0) >= this.#limits.perUser) return 'user';
    return this.#all >= this.#limits.all ? 'all' : undefined;
  }

  /** Takes a place until the returned function is called, once. To be asked for before: see `fullFor`. */
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
