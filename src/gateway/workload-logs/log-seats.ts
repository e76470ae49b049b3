/**
 * The most logs that one stream reads at once: two containers of each of 50 pods. Over HTTP/1.1 each takes a connection to the API server,
 * and each takes one there to a kubelet.
 */
const MOST_AT_ONCE = 100;
/** The most logs that all streams of one user read at once, and those of all users: as many as two and ten of the largest streams. */
const MOST_OF_USER = 200;
const MOST_OF_ALL = 1_000;

/** The places of logs that are read, of all streams. */
export class LogSeats {
  readonly #ofUsers = new Map<string, number>();
  #taken = 0;

  /** The number of logs that are read. */
  get taken(): number {
    return this.#taken;
  }

  /** The places of one stream of this user. */
  ofStream(user: string): StreamSeats {
    let own = 0;
    return {
      take: () => {
        const ofUser = this.#ofUsers.get(user) ?? 0;
        if (own >= MOST_AT_ONCE || ofUser >= MOST_OF_USER || this.#taken >= MOST_OF_ALL) return undefined;
        own += 1;
        this.#taken += 1;
        this.#ofUsers.set(user, ofUser + 1);
        return () => {
          own -= 1;
          this.#taken -= 1;
          const left = (this.#ofUsers.get(user) ?? 0) - 1;
          if (left > 0) this.#ofUsers.set(user, left);
          else this.#ofUsers.delete(user);
        };
      },
    };
  }
}

export interface StreamSeats {
  /** Takes a place. The returned function gives it back, and must be called once. `undefined`: there is none. */
  take(): (() => void) | undefined;
}
