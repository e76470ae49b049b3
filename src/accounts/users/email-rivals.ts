import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { UserRecord, UserRecords } from './user-record.ts';

/**
 * Says whether somebody had an e-mail address before a user got it. Kubernetes has no unique fields, but it puts all writes into
 * one order, and every replica's mirror shows them in that order. The replica that wrote the address waits until its own mirror
 * shows the write: any other user who has the address there had it first. If several replicas give one address to several users at
 * the same moment, exactly one of them finds nobody else. Two may find each other only after a new list, or when a lost
 * answer hides the version of a write; then neither keeps it.
 */
export interface EmailRivals {
  /** Call this before the write. Call `end` when the answer is known or no longer needed. */
  expect(name: string, email: string): ExpectedEmail;
}

interface ExpectedEmail {
  /**
   * Resolves with whether somebody had the address before the write that made this version of the user. Rejects if the mirror does
   * not show that version in time.
   */
  wasTaken(uid: string, version: string): Promise<boolean>;
  end(): void;
}

/** The mirror is usually some milliseconds behind. After a broken watch, a new one shows the write within seconds. */
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

/** A version of the user with the address, and whether another user had the address when the mirror showed that version. */
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
   * What was found, in the order of the mirror. All of it is kept until `wasTaken` is called: the mirror may show the write before
   * its answer comes, and may show earlier versions in which the user had the address already.
   */
  readonly #found: Found[] = [];
  #waiting: ((found: Found) => void) | undefined;
  /** After the answer, later versions are ignored, because each check walks over all users. */
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
    // A later version counts too, because a new list may have skipped this one.
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

  /**
   * A user who is still being created has the address, too: the replica that creates the user may have found already that nobody
   * else had it.
   */
  #hasAddress = ({ email, isDeleting }: UserRecord): boolean => !isDeleting && email.toLowerCase() === this.#email;
}
