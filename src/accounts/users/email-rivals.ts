import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { UserRecord, UserRecords } from './user-record.ts';

/**
 * Says who had an e-mail address before a user got it. Kubernetes makes no field unique, but it puts all changes into one
 * order, and every replica's mirror shows them in that order. So the replica that wrote the address waits until its own
 * mirror shows the write: any other user with the address there had it before, and one who gets it later will find this user.
 * If several users get one address at the same moment, at replicas that know nothing of each other, exactly one of them
 * finds nobody before it. Only after a new list, or where a lost answer hides the version of a write, may two find each
 * other; then neither keeps it.
 */
export interface EmailRivals {
  /** Call this before the write. Call `end` when the answer is known or no longer needed. */
  expect(name: string, email: string): ExpectedEmail;
}

interface ExpectedEmail {
  /**
   * Resolves with whether somebody had the address before the write that made this version of the user. Rejects when the
   * mirror does not show it in time.
   */
  wasTaken(uid: string, version: string): Promise<boolean>;
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
        wasTaken: (uid, version) => expectation.wasTaken(uid, version),
        end: () => {
          ofName.delete(expectation);
          if (ofName.size === 0) expected.delete(name);
        },
      };
    },
  };
}

/** What was found when a version of a user with the address was seen. */
interface Found {
  readonly uid: string;
  readonly version: string;
  readonly isTaken: boolean;
}

class Expectation {
  readonly #email: string;
  readonly #users: Pick<UserRecords, 'all'>;
  readonly #clock: Clock;
  /**
   * In the order of the mirror. All are kept until `wasTaken` is called: the mirror may show the write before the answer to it has
   * come, and may show earlier versions in which the user had the address already.
   */
  readonly #found: Found[] = [];
  #waiting: ((found: Found) => void) | undefined;
  /** Once the question is answered, nothing is looked for any more, because each look is a walk over all users. */
  #isAnswered = false;

  constructor(email: string, users: Pick<UserRecords, 'all'>, clock: Clock) {
    this.#email = email.toLowerCase();
    this.#users = users;
    this.#clock = clock;
  }

  see(record: UserRecord): void {
    if (this.#isAnswered || !this.#hasAddress(record)) return;
    const found = { uid: record.uid, version: record.resourceVersion, isTaken: this.#isAnybodyElse(record) };
    this.#found.push(found);
    this.#waiting?.(found);
  }

  wasTaken(uid: string, version: string): Promise<boolean> {
    // Or a later version, because a new list may have skipped this one.
    const isIt = (found: Found): boolean => found.uid === uid && compareResourceVersions(found.version, version) >= 0;
    const known = this.#found.find(isIt);
    if (known) {
      this.#isAnswered = true;
      return Promise.resolve(known.isTaken);
    }
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(LONGEST_WAIT_MS, () =>
        reject(new Error('the change of a user is not seen in the mirror in time')),
      );
      this.#waiting = (found) => {
        if (!isIt(found)) return;
        cancel();
        this.#isAnswered = true;
        resolve(found.isTaken);
      };
    });
  }

  #isAnybodyElse({ name }: UserRecord): boolean {
    for (const other of this.#users.all()) if (other.name !== name && this.#hasAddress(other)) return true;
    return false;
  }

  /** Includes a user who is still being created: the replica that creates the user may know already that nobody had the address before. */
  #hasAddress = ({ email, isDeleting }: UserRecord): boolean => !isDeleting && email.toLowerCase() === this.#email;
}
