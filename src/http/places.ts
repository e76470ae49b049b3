import { tooManyRequests } from '../status-error.ts';
import { type PlaceLimits, UserPlaces } from './user-places.ts';

/** Limits the number of requests of one class in flight. */
export class Places {
  readonly #places: UserPlaces;
  readonly #refused: (isPerUser: boolean) => void;

  constructor(limits: PlaceLimits, refused: (isPerUser: boolean) => void) {
    this.#places = new UserPlaces(limits);
    this.#refused = refused;
  }

  get taken(): number {
    return this.#places.taken;
  }

  /** Takes a place for this user. The returned function gives it back, and must be called once. Throws a 429 if there is none. */
  take(user: string): () => void {
    const full = this.#places.fullFor(user);
    if (!full) return this.#places.take(user);
    this.#refused(full === 'user');
    throw tooManyRequests();
  }
}
