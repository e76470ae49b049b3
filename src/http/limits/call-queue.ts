import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';
import { FairQueue } from '../../runtime/limits/fair-queue.ts';

/**
 * One call begins for every 48 other requests while the event loop is busy. A call costs the event loop as much as four pages of the
 * node list (0.5 ms and 0.12 ms), and costs the API server, which may run on the same machine, at least as much again. So the gateway
 * gets a tenth of the time.
 */
const OTHERS_PER_CALL = 48;
/**
 * The longest wait between two calls. So even under full load, a hundred calls begin in a second besides the one that each user
 * may have.
 */
const LONGEST_WAIT_MS = 10;
/** After this long without another request, there is no other traffic. Clients that send all the time leave gaps of 2 ms under load. */
const QUIET_MS = 5;
/** The most users whose last other request is remembered. Above it, the user whose last request is the oldest is forgotten. */
const MOST_USERS = 1_000;
/** From this load on, the time that a call takes delays other requests. */
const BUSY = 0.9;

interface CallQueueParts {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  /** The share of the recent time in which the event loop was busy. */
  loopLoad(): number;
}

/** A call that may begin now, or soon. */
export interface QueuedCall {
  /** Resolves when the call may begin or `leave` was called; `undefined` when it may begin at once. */
  readonly begins: Promise<void> | undefined;
  /** To be called when the call is over, also if it never began. Further calls do nothing. */
  leave(): void;
}

/**
 * Lets calls to the cluster begin one by one while the event loop is busy and there are other requests, so that the node list,
 * sign-ins and probes keep most of the event loop under any number of calls. Otherwise every call begins at once.
 *
 * Users take turns, and a call waits only if its own user has another call in flight, or has recently sent other requests. So a user
 * with many calls waits, and nobody else does.
 */
export class CallQueue {
  readonly #parts: CallQueueParts;
  readonly #queue = new FairQueue();
  /** The number of calls in flight, for each user who has any. */
  readonly #inFlight = new Map<string, number>();
  /** When each user last sent another request. */
  readonly #askedAt = new BoundedMap<number>(MOST_USERS);
  /** The number of other requests since the last turn. */
  #others = 0;
  #otherAt = Number.NEGATIVE_INFINITY;
  #turnAt = Number.NEGATIVE_INFINITY;
  /** Cancels the planned check of the waiting calls. */
  #cancel = (): void => undefined;

  constructor(parts: CallQueueParts) {
    this.#parts = parts;
  }

  /** The number of waiting calls. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Counts a request that is not a call to the cluster. */
  other = (): void => {
    this.#others++;
    this.#otherAt = this.#parts.clock.monotonic();
    if (this.#others === OTHERS_PER_CALL && this.#queue.size > 0) this.#next();
  };

  /** Notes the user of such a request, once it is known. */
  asked = (user: string): void => {
    this.#askedAt.set(user, this.#parts.clock.monotonic());
  };

  take(user: string): QueuedCall {
    if (this.#beginsNow(user)) return { begins: undefined, leave: once(() => this.#ended(user)) };
    const { promise, resolve } = Promise.withResolvers<void>();
    const leaveQueue = this.#queue.wait(user, () => {
      this.#began(user);
      resolve();
    });
    if (this.#queue.size === 1) this.#look();
    const leave = once(() => {
      if (leaveQueue()) resolve();
      else this.#ended(user);
    });
    return { begins: promise, leave };
  }

  #beginsNow(user: string): boolean {
    if (this.#queue.has(user)) return false;
    const isTurn = this.#queue.size === 0 && this.#waitMs() <= 0;
    if (isTurn) this.#turn();
    else if (!this.#isFree(user)) return false;
    this.#began(user);
    return true;
  }

  /** Whether this user has no call in flight and has not sent another request of late. */
  #isFree(user: string): boolean {
    const askedAt = this.#askedAt.get(user) ?? Number.NEGATIVE_INFINITY;
    return !this.#inFlight.has(user) && this.#parts.clock.monotonic() - askedAt >= QUIET_MS;
  }

  #began(user: string): void {
    this.#inFlight.set(user, (this.#inFlight.get(user) ?? 0) + 1);
  }

  /** Starts the next call of a user when the user's last one is over; the calls of other users do not delay it. */
  #ended(user: string): void {
    const left = (this.#inFlight.get(user) ?? 0) - 1;
    if (left > 0) return void this.#inFlight.set(user, left);
    this.#inFlight.delete(user);
    if (this.#isFree(user)) this.#queue.next(user);
  }

  /**
   * How long the next call waits; 0 or less: it may begin now. The wait ends earlier after `OTHERS_PER_CALL` requests that are no
   * calls to the cluster.
   */
  #waitMs(): number {
    const now = this.#parts.clock.monotonic();
    if (this.#others >= OTHERS_PER_CALL || this.#parts.loopLoad() < BUSY) return 0;
    return Math.min(this.#otherAt + QUIET_MS, this.#turnAt + LONGEST_WAIT_MS) - now;
  }

  #turn(): void {
    this.#others = 0;
    this.#turnAt = this.#parts.clock.monotonic();
  }

  #look = (): void => {
    this.#cancel();
    const wait = this.#waitMs();
    if (wait <= 0) this.#next();
    else this.#cancel = this.#parts.clock.after(wait, this.#look);
  };

  /** Starts a call of the user whose turn it is. The next call starts in a later turn of the event loop. */
  #next(): void {
    this.#cancel();
    this.#turn();
    this.#queue.next();
    if (this.#queue.size === 0) return;
    const look = setImmediate(this.#look);
    this.#cancel = () => clearImmediate(look);
  }
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}
