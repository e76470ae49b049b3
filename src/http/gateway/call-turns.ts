import type { Clock } from '../../runtime/clock.ts';

/**
 * A call costs the event loop as much as four pages of the node list (0.5 ms and 0.12 ms), and the API server, which may
 * run on the same machine, as much again and more. So beside 48 others a tenth of the time is the gateway's.
 */
const OTHERS_A_CALL = 48;
/** However much else is asked, a hundred calls begin in a second. */
const LONGEST_WAIT_MS = 10;
/** After so long without another request nobody else is asking. Clients that ask all the time leave gaps of 2 ms on a busy machine. */
const QUIET_MS = 5;
/** From this load on, what a call takes is taken from others. */
const BUSY = 0.9;

interface CallTurnsParts {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  /** The share of the time in which the event loop was busy of late. */
  loopLoad(): number;
}

/**
 * Lets calls to the cluster begin one by one while the event loop is busy and others ask, too, so that the node list, sign-ins
 * and probes keep most of it however much is asked of the gateway. Otherwise every call begins at once.
 */
export class CallTurns {
  readonly #parts: CallTurnsParts;
  readonly #waiting: (() => void)[] = [];
  /** Other requests since the last call began. */
  #others = 0;
  #otherAt = Number.NEGATIVE_INFINITY;
  #beganAt = Number.NEGATIVE_INFINITY;
  /** Of the next look at those that wait. */
  #cancel = (): void => undefined;

  constructor(parts: CallTurnsParts) {
    this.#parts = parts;
  }

  /** How many calls wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** A request has come that is no call. */
  other = (): void => {
    this.#others++;
    this.#otherAt = this.#parts.clock.monotonic();
    if (this.#others === OTHERS_A_CALL && this.#waiting.length > 0) this.#next();
  };

  /** Resolves when the call may begin; `undefined`: at once. */
  take(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#waitMs() <= 0) {
      this.#begin();
      return undefined;
    }
    return new Promise<void>((resolve) => {
      if (this.#waiting.push(resolve) === 1) this.#look();
    });
  }

  /** How long the next call has to wait, if fewer others come than `OTHERS_A_CALL`. */
  #waitMs(): number {
    const now = this.#parts.clock.monotonic();
    if (this.#others >= OTHERS_A_CALL || this.#parts.loopLoad() < BUSY) return 0;
    return Math.min(this.#otherAt + QUIET_MS, this.#beganAt + LONGEST_WAIT_MS) - now;
  }

  #begin(): void {
    this.#others = 0;
    this.#beganAt = this.#parts.clock.monotonic();
  }

  #look = (): void => {
    const wait = this.#waitMs();
    if (wait <= 0) this.#next();
    else this.#cancel = this.#parts.clock.after(wait, this.#look);
  };

  /** The first one that waits begins, and the next one in another turn of the loop at the earliest. */
  #next(): void {
    this.#cancel();
    this.#begin();
    this.#waiting.shift()?.();
    if (this.#waiting.length === 0) return;
    const look = setImmediate(this.#look);
    this.#cancel = () => clearImmediate(look);
  }
}
