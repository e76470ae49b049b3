import type { Clock } from '../../runtime/clock.ts';

/** Tells open streams whose callers may no longer be signed in. */
export interface CallerChanges {
  /** Calls `changed` with the names of users who have changed, or whose sessions have. Returns a function that ends this. */
  onChange(changed: (users: ReadonlySet<string>) => void): () => void;
}

/** Changes within this time are told together: when 10,000 users change at once, the streams are looked through once. */
const COLLECT_MS = 100;

/** Collects the changes of users and sessions for the open streams. While nothing changes, no timer runs. */
export class CollectedCallerChanges implements CallerChanges {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #listeners = new Set<(users: ReadonlySet<string>) => void>();
  #users = new Set<string>();

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** The user, or a session of the user, has changed. */
  note(user: string): void {
    if (this.#users.size === 0) this.#clock.after(COLLECT_MS, () => this.#tell());
    this.#users.add(user);
  }

  onChange(changed: (users: ReadonlySet<string>) => void): () => void {
    this.#listeners.add(changed);
    return () => void this.#listeners.delete(changed);
  }

  #tell(): void {
    const users = this.#users;
    this.#users = new Set();
    for (const changed of this.#listeners) changed(users);
  }
}
