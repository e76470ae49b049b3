import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';

/** Seconds between two polls of a device (RFC 8628 3.2). */
export const POLL_SECONDS = 5;

/** How much longer a device has to wait each time it was too fast (RFC 8628 3.5). */
const SLOWER_MS = 5000;

/** A poll may be early by this much: requests and answers do not always take equally long. */
const GRACE_MS = 1000;

/** More than three replicas issue codes for in the life of a code (`issue-limit.ts`). The pace of further devices is forgotten. */
const MOST_DEVICES = 25_600;

interface Pace {
  readonly polledAt: number;
  readonly intervalMs: number;
}

/** How often each device polls this replica, in memory and bounded. */
export class PollPace {
  readonly #paces = new BoundedMap<Pace>(MOST_DEVICES);
  readonly #clock: Pick<Clock, 'monotonic'>;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Records a poll. Returns whether it came too soon; then the device has to wait five seconds more from now on (`slow_down`). */
  isTooFast(id: string): boolean {
    const now = this.#clock.monotonic();
    const { polledAt, intervalMs } = this.#paces.get(id) ?? {
      polledAt: Number.NEGATIVE_INFINITY,
      intervalMs: POLL_SECONDS * 1000,
    };
    const isTooFast = now - polledAt < intervalMs - GRACE_MS;
    this.#paces.set(id, { polledAt: now, intervalMs: isTooFast ? intervalMs + SLOWER_MS : intervalMs });
    return isTooFast;
  }
}
