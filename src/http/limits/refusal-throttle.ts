import { OAuthError } from '../../oauth/oauth-error.ts';
import type { Clock } from '../../runtime/clock.ts';
import { StatusError } from '../../status-error.ts';
import type { Exchange, Handler } from '../exchange.ts';

/** The time between two refusals. 200 a second cost 3 % of a core, at 0.15 ms each. */
const APART_MS = 5;
/** This many refusals are sent at once, so that people who come at the same time need not wait. */
const AT_ONCE = 50;
/** The longest time that a refusal waits, and so delays its connection: as long as the shortest `Retry-After`. */
const LONGEST_MS = 1000;

export interface RefusalThrottle {
  /** Resolves when the next refusal may be sent, or when the client has gone. */
  turn(exchange: Exchange): Promise<void>;
  /**
   * Rejects with the error: at once, or in its turn if it is a 429, a 503 of the API, or a 401 under /oauth (which costs a line of
   * the audit trail).
   */
  refuse(exchange: Exchange, error: unknown): Promise<never>;
}

/**
 * Limits the rate of such refusals: after the first fifty, one is sent every 5 ms, but each within a second. Clients that try again
 * without a pause then wait for their answer instead of keeping the event loop busy. While a refusal waits, no other
 * request of its connection is handled, but it takes no seat of admission.
 */
export function createRefusalThrottle(clock: Clock): RefusalThrottle {
  let lastAt = Number.NEGATIVE_INFINITY;
  const nextWaitMs = (): number => {
    const now = clock.monotonic();
    lastAt = Math.min(Math.max(lastAt, now - AT_ONCE * APART_MS) + APART_MS, now + LONGEST_MS);
    return lastAt - now;
  };
  const turn: RefusalThrottle['turn'] = async (exchange) => {
    exchange.leaveSeat();
    const waitMs = nextWaitMs();
    if (waitMs > 0) await clock.sleep(waitMs, exchange.signal);
  };
  const refuse: RefusalThrottle['refuse'] = async (exchange, error) => {
    if (isThrottled(error)) await turn(exchange);
    throw error;
  };
  return { turn, refuse };
}

/** Applies the throttle to the refusals of a handler. */
export const throttleRefusals =
  (throttle: RefusalThrottle, handler: Handler): Handler =>
  async (exchange) => {
    try {
      await handler(exchange);
    } catch (error) {
      await throttle.refuse(exchange, error);
    }
  };

const isThrottled = (error: unknown): boolean =>
  (error instanceof OAuthError && (error.refusal.status === 429 || error.refusal.status === 401)) ||
  (error instanceof StatusError && (error.answer.code === 429 || error.answer.code === 503));
