import { tooManyRequests } from '../status-error.ts';
import { type PlaceLimits, UserPlaces } from './user-places.ts';

/** Bounds one class of requests. */
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

  /** Takes a place of this user until the returned function is called, once. Throws a 429 when there is none. */
  take(user: string): () => void {
    const full = this.#places.fullFor(user);
    if (!full) return this.#places.take(user);
    this.#refused(full === 'user');
    throw tooManyRequests();
  }
}
