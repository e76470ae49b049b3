import type { Clock } from '../runtime/clock.ts';
import { FailureBuckets } from '../runtime/failure-bucket.ts';
import type { SecurityEvents } from '../security-events.ts';
import type { BucketName } from './login-throttle.ts';
import type { User } from './user.ts';

/**
 * A hundred in a minute, over all names and addresses. Of 1,000 people who sign in within one quarter of an hour, one
 * in ten mistyping, come 7 a minute; a flood at the pace of the gate, 40 a second, is told of within 3 s.
 */
const BUDGET = { limit: 100, windowMs: 60_000 };

const EVERYBODY = 'everybody';

/** Tells the person who watches over sign-ins about failures; turns nobody away. */
export class FailureWatch {
  readonly #all: FailureBuckets;
  readonly #events: SecurityEvents;

  constructor({ clock, events }: { readonly clock: Clock; readonly events: SecurityEvents }) {
    this.#all = new FailureBuckets(BUDGET, clock);
    this.#events = events;
  }

  /** A wrong password or an unknown name, and the buckets that it made full. What was typed for a name is not told. */
  refused({ user, source }: { user: User | undefined; source: string }, full: readonly BucketName[]): void {
    for (const bucket of full)
      this.#events.report('sign_in_throttled', { ...(user && { user: user.name }), source, bucket });
    this.turnedAway();
  }

  /** Counts for the budget too: one name tried from a thousand addresses is turned away after the fifth. */
  turnedAway(): void {
    if (this.#all.add(EVERYBODY).stands())
      this.#events.report('sign_in_failures_many', { failures: BUDGET.limit, withinSeconds: BUDGET.windowMs / 1000 });
  }
}
