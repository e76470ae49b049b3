import type { Registry } from 'prom-client';
import type { Clock } from '../../runtime/clock.ts';
import { FairQueue, type LeaveQueue } from '../../runtime/limits/fair-queue.ts';
import type { WrappingStep } from '../exchange.ts';
import { registerWaiting } from '../metrics.ts';

/** From this load on, the time that a request takes delays other requests. */
const BUSY = 0.9;
/**
 * The time of a turn of the event loop that beginning requests may use: three lists from memory, or one request that calls the cluster.
 * Answering them takes at least as long again. Without a limit, the requests of forty connections made each turn 20 ms long, and every
 * request waits for several turns.
 */
const TURN_MS = 0.1;
/** A user is alone if no other user has sent a request for this long. Dashboards send one every few seconds. */
const COMPANY_MS = 60_000;

interface RequestQueueParts {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The share of the recent time in which the event loop was busy. */
  loopLoad(): number;
}

/**
 * While the event loop is busy, lets only so many requests begin in each of its turns that the turn stays short. Beyond that, users take
 * turns, and the requests of one user keep their order. A user's first request in a turn always begins at once. So a user who sends many
 * requests waits, and others do not. A user who is alone never waits, because short turns have a cost: about ten microseconds each, and
 * the answers of one turn are written together.
 */
export class RequestQueue {
  readonly #parts: RequestQueueParts;
  readonly #queue = new FairQueue();
  /** The users whose requests have begun in this turn of the event loop. */
  readonly #users = new Set<string>();
  /** The time that these requests have taken. */
  #spentMs = 0;
  #isRunning = false;
  #lastUser: string | undefined;
  /** When two different users last sent requests one after the other. */
  #companyAt = Number.NEGATIVE_INFINITY;

  constructor(parts: RequestQueueParts) {
    this.#parts = parts;
  }

  /** The number of waiting requests. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Calls `begin` now and returns `undefined`, or calls it at this user's turn and returns a function that leaves the queue. `begin` must
   * not throw.
   */
  take(user: string, begin: () => void): LeaveQueue | undefined {
    const isBusy = !this.#isAlone(user) && this.#parts.loopLoad() >= BUSY;
    if (isBusy && !this.#isRunning) this.#run();
    const isFull = isBusy && this.#spentMs >= TURN_MS && this.#users.has(user);
    if (isFull || this.#queue.has(user)) return this.#queue.wait(user, () => this.#begin(user, begin));
    this.#begin(user, begin);
    return undefined;
  }

  #isAlone(user: string): boolean {
    const now = this.#parts.clock.monotonic();
    if (this.#lastUser !== undefined && this.#lastUser !== user) this.#companyAt = now;
    this.#lastUser = user;
    return now - this.#companyAt >= COMPANY_MS;
  }

  #begin(user: string, begin: () => void): void {
    if (!this.#isRunning) return void begin();
    this.#users.add(user);
    const { clock } = this.#parts;
    const beganAt = clock.monotonic();
    begin();
    this.#spentMs += clock.monotonic() - beganAt;
  }

  #run(): void {
    this.#isRunning = true;
    setImmediate(this.#turn);
  }

  /** Begins a new turn of the event loop. Waiting requests go before those that arrive in this turn. */
  #turn = (): void => {
    const isIdle = this.#users.size === 0 && this.#queue.size === 0;
    this.#users.clear();
    this.#spentMs = 0;
    if (isIdle) {
      this.#isRunning = false;
      return;
    }
    while (this.#spentMs < TURN_MS && this.#queue.next());
    setImmediate(this.#turn);
  };
}

interface QueueStepParts {
  readonly queue: RequestQueue;
  readonly registry: Registry;
  /** Called with the user of each request that is not the gateway's. */
  readonly onOther?: ((user: string) => void) | undefined;
}

/** The step in which a request waits in the queue. While it waits it takes its connection, but no seat of admission. */
export function createQueueStep({ queue, registry, onOther }: QueueStepParts): WrappingStep {
  registerWaiting(registry, queue);
  return function queueRequest(exchange, go) {
    const user = exchange.identity?.name ?? '';
    if (exchange.route?.admission !== 'gateway') onOther?.(user);
    let takeSeatAgain = (): void => undefined;
    const leave = queue.take(user, () => {
      try {
        takeSeatAgain();
      } catch (error) {
        return go(error); // a 429, because all seats are taken now
      }
      go();
    });
    if (!leave) return;
    takeSeatAgain = exchange.stepAside();
    exchange.atEnd(leave);
  };
}
