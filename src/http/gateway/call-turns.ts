import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';
import { PartyQueue } from '../../runtime/party-queue.ts';

/**
 * A call costs the event loop as much as four pages of the node list (0.5 ms and 0.12 ms), and the API server, which may
 * run on the same machine, as much again and more. So with one call for 48 other requests, the gateway gets a tenth of the time.
 */
const OTHERS_A_CALL = 48;
/** Under any load, a hundred calls begin in a second besides the one that each user may have. */
const LONGEST_WAIT_MS = 10;
/** After this long without another request, nobody else is asking. Clients that ask all the time leave gaps of 2 ms when it is busy. */
const QUIET_MS = 5;
/** The most users whose last other request is remembered. Above it, the user who asked longest ago is forgotten. */
const MOST_USERS = 1_000;
/** From this load on, the time that a call takes delays the calls of others. */
const BUSY = 0.9;

interface CallTurnsParts {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  /** The share of the time in which the event loop was busy of late. */
  loopLoad(): number;
}

/** A call that may begin now, or soon. */
export interface CallTurn {
  /** Resolves when the call may begin or has left; `undefined` when it may begin at once. */
  readonly begins: Promise<void> | undefined;
  /** Call this when the call is over, also if it never began. It may be called more than once. */
  leave(): void;
}

/**
 * Lets calls to the cluster begin one by one while the event loop is busy and others ask, too, so that the node list, sign-ins
 * and probes keep most of it however much is asked of the gateway. Otherwise every call begins at once.
 *
 * Users take turns, and a call waits only for what its own user has in flight: another call, or recent requests of other
 * kinds. So a user with many calls waits, and nobody else does.
 */
export class CallTurns {
  readonly #parts: CallTurnsParts;
  readonly #queue = new PartyQueue();
  /** Calls under way, of users who have one. */
  readonly #underway = new Map<string, number>();
  /** When each user last asked something else. */
  readonly #askedAt = new BoundedMap<number>(MOST_USERS);
  /** Other requests since the last turn. */
  #others = 0;
  #otherAt = Number.NEGATIVE_INFINITY;
  #turnAt = Number.NEGATIVE_INFINITY;
  /** Cancels the next look at the calls that wait. */
  #cancel = (): void => undefined;

  constructor(parts: CallTurnsParts) {
    this.#parts = parts;
  }

  /** How many calls wait. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Notes that a request of another kind has come. */
  other = (): void => {
    this.#others++;
    this.#otherAt = this.#parts.clock.monotonic();
    if (this.#others === OTHERS_A_CALL && this.#queue.size > 0) this.#next();
  };

  /** Notes that the request that has come belongs to this user. */
  asked = (user: string): void => {
    this.#askedAt.set(user, this.#parts.clock.monotonic());
  };

  take(user: string): CallTurn {
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

  /** Whether this user has nothing else in flight. */
  #isFree(user: string): boolean {
    const askedAt = this.#askedAt.get(user) ?? Number.NEGATIVE_INFINITY;
    return !this.#underway.has(user) && this.#parts.clock.monotonic() - askedAt >= QUIET_MS;
  }

  #began(user: string): void {
    this.#underway.set(user, (this.#underway.get(user) ?? 0) + 1);
  }

  /** The next call of a user may begin when the one before it is over; the calls of other users do not delay it. */
  #ended(user: string): void {
    const left = (this.#underway.get(user) ?? 0) - 1;
    if (left > 0) return void this.#underway.set(user, left);
    this.#underway.delete(user);
    if (this.#isFree(user)) this.#queue.next(user);
  }

  /** The time until the next turn, if fewer other requests come than `OTHERS_A_CALL`. */
  #waitMs(): number {
    const now = this.#parts.clock.monotonic();
    if (this.#others >= OTHERS_A_CALL || this.#parts.loopLoad() < BUSY) return 0;
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
