import type { Clock } from '../runtime/clock.ts';
import { FailureBuckets } from '../runtime/failure-bucket.ts';
import type { SecurityEvents } from '../security-events.ts';
import type { BucketName } from './login-throttle.ts';
import type { User } from './user.ts';

/**
 * A hundred in a minute, over all names and addresses. If 1,000 people sign in within a quarter of an hour and
 * one in ten mistypes, that makes 7 a minute. A flood at the pace of the gate, 40 a second, is reported within 3 s.
 */
const BUDGET = { limit: 100, windowMs: 60_000 };

const EVERYBODY = 'everybody';

/** Reports failed sign-ins to whoever watches the audit trail. It refuses nobody. */
export class FailureWatch {
  readonly #all: FailureBuckets;
  readonly #events: SecurityEvents;

  constructor({ clock, events }: { readonly clock: Clock; readonly events: SecurityEvents }) {
    this.#all = new FailureBuckets(BUDGET, clock);
    this.#events = events;
  }

  /**
   * Reports a wrong password or an unknown name, and the buckets that it filled. What was typed as a name is not
   * reported.
   */
  refused({ user, source }: { user: User | undefined; source: string }, full: readonly BucketName[]): void {
    for (const bucket of full)
      this.#events.report('sign_in_throttled', { ...(user && { user: user.name }), source, bucket });
    this.turnedAway();
  }

  /**
   * Counts for the budget, too: when one name is tried from a thousand addresses, all attempts after the fifth are
   * turned away.
   */
  turnedAway(): void {
    if (this.#all.add(EVERYBODY).stands())
      this.#events.report('sign_in_failures_many', { failures: BUDGET.limit, withinSeconds: BUDGET.windowMs / 1000 });
  }
}
