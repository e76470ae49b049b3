import { OAuthError } from '../oauth/oauth-error.ts';
import type { Clock } from '../runtime/clock.ts';
import { StatusError } from '../status-error.ts';
import type { Exchange } from './chain/exchange.ts';
import type { Handler } from './chain/route-table.ts';

/** 5 ms apart: 200 a second cost 3 % of a core, at 0.15 ms each. */
const APART_MS = 5;
/** So many may go at once: people who come together are not kept waiting. */
const AT_ONCE = 50;
/** As long as `Retry-After` says at least; also what a refusal holds its connection for at most. */
const LONGEST_MS = 1000;

/**
 * Rejects with the error, at once unless it is a 429, a 503 of the API, or a 401 under /oauth, which costs a line of the audit
 * trail: then when its turn has come.
 */
export type RefusalPace = (exchange: Exchange, error: unknown) => Promise<never>;

/**
 * Sends such refusals one each 5 ms after the first fifty, each within a second: clients that try again without a pause wait for their answer instead of taking the
 * event loop from the others. One that waits holds its connection, on which no other request is handled meanwhile, and no place of admission.
 */
export function createRefusalPace(clock: Clock): RefusalPace {
  let lastAt = Number.NEGATIVE_INFINITY;
  const nextWaitMs = (): number => {
    const now = clock.monotonic();
    lastAt = Math.min(Math.max(lastAt, now - AT_ONCE * APART_MS) + APART_MS, now + LONGEST_MS);
    return lastAt - now;
  };
  return async (exchange, error) => {
    if (isPaced(error)) {
      exchange.leavePlace();
      const waitMs = nextWaitMs();
      if (waitMs > 0) await clock.sleep(waitMs, exchange.signal);
    }
    throw error;
  };
}

/** Such refusals of this route at this pace. */
export const atPace =
  (pace: RefusalPace, handler: Handler): Handler =>
  async (exchange) => {
    try {
      await handler(exchange);
    } catch (error) {
      await pace(exchange, error);
    }
  };

const isPaced = (error: unknown): boolean =>
  (error instanceof OAuthError && (error.refusal.status === 429 || error.refusal.status === 401)) ||
  (error instanceof StatusError && (error.answer.code === 429 || error.answer.code === 503));
