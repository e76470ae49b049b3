import type { Registry } from 'prom-client';
import type { Clock } from '../../runtime/clock.ts';
import { type LeaveQueue, PartyQueue } from '../../runtime/party-queue.ts';
import { registerWaiting } from '../metrics.ts';
import type { Gate } from './chain.ts';

/** From this load on, the time that a request takes delays the requests of others. */
const BUSY = 0.9;
/**
 * What requests that begin may take of a turn of the event loop: three lists from memory, or one request that asks the
 * cluster. What these take when they are answered comes on top, as much again and more. Without a bound, those of forty
 * connections made each turn 20 ms, and everybody waits for several turns.
 */
const TURN_MS = 0.1;
/** A user is alone when no other user has asked for this long. Dashboards ask every few seconds. */
const COMPANY_MS = 60_000;

interface UserTurnsParts {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The share of the time in which the event loop was busy of late. */
  loopLoad(): number;
}

/**
 * Lets only some requests begin in each turn of the event loop while it is busy: as many as keep it short. Beyond them users
 * take turns, each with its own requests in order. A user's first one in a turn always begins at once. So a user who sends many
 * requests waits for them, and the others do not. A user who is alone never waits: short turns have their price, some ten
 * microseconds each, and answers of one turn go to the kernel together.
 */
export class UserTurns {
  readonly #parts: UserTurnsParts;
  readonly #queue = new PartyQueue();
  /** The users whose requests have begun in this turn of a busy loop, and the time that these took. */
  readonly #users = new Set<string>();
  #spentMs = 0;
  #isRunning = false;
  #lastUser: string | undefined;
  /** When two users last asked one after the other. */
  #companyAt = Number.NEGATIVE_INFINITY;

  constructor(parts: UserTurnsParts) {
    this.#parts = parts;
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Calls `begin` at the turn of this user, or now and then returns nothing. `begin` must not throw. */
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

  /** The turn of the event loop is over. Requests that wait go before those that come in the next turn. */
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

interface TakeTurnParts {
  readonly turns: UserTurns;
  readonly registry: Registry;
  /** Called with the user of each request that is not the gateway's. */
  readonly onOther?: ((user: string) => void) | undefined;
}

/** A request waits for the turn of its user. Meanwhile it holds its connection, and no place of admission. */
export function createTakeTurn({ turns, registry, onOther }: TakeTurnParts): Gate {
  registerWaiting(registry, turns);
  return function takeTurn(exchange, go) {
    const user = exchange.identity?.name ?? '';
    if (exchange.route?.admission !== 'gateway') onOther?.(user);
    let stepBack = (): void => undefined;
    const leave = turns.take(user, () => {
      try {
        stepBack();
      } catch (error) {
        return go(error); // there is no place for it any more
      }
      go();
    });
    if (!leave) return;
    stepBack = exchange.stepAside();
    exchange.atEnd(leave);
  };
}
