import type { Clock } from '../../runtime/clock.ts';
import type { UserRecord, UserRecords } from './user-record.ts';

/**
 * Says who had an e-mail address before a user got it. Kubernetes makes no field unique, but it puts all changes into one
 * order, and every replica's mirror shows them in that order. So the replica that wrote the address waits until its own
 * mirror shows the write: whoever else has the address there had it before, and whoever gets it later will find this user.
 * Of any number of users who get one address at one moment, at replicas that know nothing of each other, exactly one
 * finds nobody before. Only after a new list may two find each other; then neither keeps it.
 */
export interface EmailRivals {
  /** To be called before the write. Call `end` when the answer is known or not needed any more. */
  expect(name: string, email: string): ExpectedEmail;
}

interface ExpectedEmail {
  /** Resolves with whether somebody had the address before. Rejects when the mirror does not show the write in time. */
  wasTaken(uid: string): Promise<boolean>;
  end(): void;
}

/** The mirror is some milliseconds behind. When its watch broke, a new one has the write within seconds. */
const LONGEST_WAIT_MS = 10_000;

export function createEmailRivals(
  users: Pick<UserRecords, 'get' | 'all' | 'onChange'>,
  { clock }: { readonly clock: Clock },
): EmailRivals {
  const expected = new Map<string, Set<Expectation>>();
  users.onChange((name) => {
    const record = users.get(name);
    for (const one of (record && expected.get(name)) ?? []) one.see(record as UserRecord);
  });
  return {
    expect: (name, email) => {
      const expectation = new Expectation(email, users, clock);
      const ofName = expected.get(name) ?? new Set();
      expected.set(name, ofName.add(expectation));
      return {
        wasTaken: (uid) => expectation.wasTaken(uid),
        end: () => {
          ofName.delete(expectation);
          if (ofName.size === 0) expected.delete(name);
        },
      };
    },
  };
}

class Expectation {
  readonly #email: string;
  readonly #users: Pick<UserRecords, 'all'>;
  readonly #clock: Clock;
  /** What was found when the write was seen first, by the uid of the user. */
  readonly #found = new Map<string, boolean>();
  #waiting: { readonly uid: string; readonly resolve: (found: boolean) => void } | undefined;

  constructor(email: string, users: Pick<UserRecords, 'all'>, clock: Clock) {
    this.#email = email.toLowerCase();
    this.#users = users;
    this.#clock = clock;
  }

  see(record: UserRecord): void {
    const { uid } = record;
    if (!this.#hasAddress(record) || this.#found.has(uid)) return;
    const found = this.#isAnybodyElse(record);
    this.#found.set(uid, found);
    if (this.#waiting?.uid === uid) this.#waiting.resolve(found);
  }

  wasTaken(uid: string): Promise<boolean> {
    const found = this.#found.get(uid);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(LONGEST_WAIT_MS, () =>
        reject(new Error('the change of a user is not seen in the mirror in time')),
      );
      this.#waiting = {
        uid,
        resolve: (known) => {
          cancel();
          resolve(known);
        },
      };
    });
  }

  #isAnybodyElse({ name }: UserRecord): boolean {
    for (const other of this.#users.all()) if (other.name !== name && this.#hasAddress(other)) return true;
    return false;
  }

  /** Also somebody who is still being made: it may be known to its maker that nobody was before. */
  #hasAddress = ({ email, isDeleting }: UserRecord): boolean => !isDeleting && email.toLowerCase() === this.#email;
}
