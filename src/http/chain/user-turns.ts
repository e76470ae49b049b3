import type { Registry } from 'prom-client';
import type { Clock } from '../../runtime/clock.ts';
import { PartyQueue, type Waiter } from '../../runtime/party-queue.ts';
import type { Step } from '../exchange.ts';
import { registerWaiting } from '../metrics.ts';

/** From this load on, what a request takes is taken from others. */
const BUSY = 0.9;
/**
 * How long a turn of the event loop is to take. A request that asks the cluster takes some 0.6 ms of it, in several turns:
 * those of forty connections at once made each turn 20 ms, and everybody waits for several turns. With turns of 0.5 ms others
 * waited 0.2 ms longer, and a flood of lists got a third more of them.
 */
const TURN_MS = 0.25;
/** Lists from memory take 34 µs each. */
const MOST_IN_A_TURN = 8;
/** A user is alone when no other has asked for so long. Dashboards ask each few seconds. */
const COMPANY_MS = 60_000;

interface UserTurnsParts {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The share of the time in which the event loop was busy of late. */
  loopLoad(): number;
}

/**
 * Lets only some requests begin in each turn of the event loop while it is busy: as many as keep it short. Beyond them users
 * take turns, each with its own requests in order. A user's first one in a turn always begins at once. So whoever sends many
 * requests waits for them, and the others do not. A user who is alone never waits: short turns have their price, some ten
 * microseconds each, and answers of one turn go to the kernel together.
 */
export class UserTurns {
  readonly #parts: UserTurnsParts;
  readonly #queue = new PartyQueue();
  /** Those whose requests have begun in this turn of a busy loop. */
  readonly #users = new Set<string>();
  #begun = 0;
  #lastUser: string | undefined;
  /** When two users last asked one after the other. */
  #companyAt = Number.NEGATIVE_INFINITY;
  #most = MOST_IN_A_TURN;
  #turnAt = 0;
  #isRunning = false;

  constructor(parts: UserTurnsParts) {
    this.#parts = parts;
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Asks for a turn of this user. `undefined`: it is now. */
  take(user: string): Waiter | undefined {
    const isBusy = !this.#isAlone(user) && this.#parts.loopLoad() >= BUSY;
    if (isBusy && !this.#isRunning) this.#run();
    const isFull = isBusy && this.#begun >= this.#most && this.#users.has(user);
    if (isFull || this.#queue.has(user)) return this.#queue.wait(user);
    this.#began(user);
    return undefined;
  }

  #isAlone(user: string): boolean {
    const now = this.#parts.clock.monotonic();
    if (this.#lastUser !== undefined && this.#lastUser !== user) this.#companyAt = now;
    this.#lastUser = user;
    return now - this.#companyAt >= COMPANY_MS;
  }

  #began(user: string): void {
    if (!this.#isRunning) return;
    this.#begun++;
    this.#users.add(user);
  }

  #run(): void {
    this.#isRunning = true;
    this.#turnAt = this.#parts.clock.monotonic();
    setImmediate(this.#turn);
  }

  /** The turn of the event loop is over. Those that wait go before those that come in the next one. */
  #turn = (): void => {
    const now = this.#parts.clock.monotonic();
    if (now - this.#turnAt > TURN_MS) this.#most = Math.max(1, Math.floor(this.#most / 2));
    else if (this.#begun >= this.#most) this.#most = Math.min(this.#most + 1, MOST_IN_A_TURN);
    this.#isRunning = this.#begun > 0 || this.#queue.size > 0;
    this.#begun = 0;
    this.#users.clear();
    if (!this.#isRunning) return;
    this.#turnAt = now;
    while (this.#begun < this.#most) {
      const user = this.#queue.next();
      if (user === undefined) break;
      this.#began(user);
    }
    setImmediate(this.#turn);
  };
}

interface TakeTurnParts {
  readonly turns: UserTurns;
  readonly registry: Registry;
  /** Told of the user of each request that is not the gateway's. */
  readonly onOther?: ((user: string) => void) | undefined;
}

/** A request waits for the turn of its user. Meanwhile it holds its connection, and no place of admission. */
export function createTakeTurn({ turns, registry, onOther }: TakeTurnParts): Step {
  registerWaiting(registry, turns);
  return function takeTurn(exchange) {
    const user = exchange.identity?.name ?? '';
    if (exchange.route?.admission !== 'gateway') onOther?.(user);
    const waiter = turns.take(user);
    if (!waiter) return 'next';
    const stepBack = exchange.stepAside();
    exchange.atEnd(waiter.leave);
    return waiter.turn.then((isTurn) => {
      if (!isTurn) return 'answered'; // the client has gone
      stepBack();
      return 'next';
    });
  };
}
