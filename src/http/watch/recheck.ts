import type { Clock } from '../../runtime/clock.ts';
import { StatusError } from '../../status-error.ts';
import type { Exchange, Step } from '../exchange.ts';

/** The steps of the chain that authenticate and authorize a caller. */
export interface CallerSteps {
  readonly authenticate: Step;
  readonly authorize: Step;
}

/** Authenticates and authorizes the caller of an exchange once more. Throws or rejects with the refusal that a new request would get. */
export type Recheck = () => void | Promise<void>;

/**
 * The time between two checks of the right. A recheck runs every 10 s. It always verifies the bearer token, from memory. It checks the
 * right about every third time, and again each time until it gets a new answer. So a withdrawn right lasts at most 30 s plus the 10 s
 * for which a decision is remembered. 10,000 users with a watch each cost the cluster at most 330 reviews a second.
 */
const RIGHT_MS = 29_000;
/**
 * How old the last positive answer may be when a recheck fails with 429. A 429 comes from our own limits, so it must not keep an old
 * answer valid for long. If the next recheck, 10 s later, fails as well, the watch ends. The first limit is for the right, the second one
 * for the token of a service account, which the cluster verifies.
 */
const RIGHT_OVERLOADED_MS = RIGHT_MS + 10_000;
const BEARER_OVERLOADED_MS = 19_000;

/**
 * Returns a function that prepares the rechecks of an exchange that has just been authorized. While the cluster does not answer, the
 * last decision about a caller is valid for `maxDecisionAgeMs`.
 */
export function createRecheck(
  { authenticate, authorize }: CallerSteps,
  clock: Clock,
  maxDecisionAgeMs: number,
): (exchange: Exchange) => Recheck {
  return (exchange) => {
    let askedAt = clock.monotonic();
    let allowedAt = isNew(exchange) ? askedAt : Number.NEGATIVE_INFINITY;
    const right = async (): Promise<void> => {
      const now = clock.monotonic();
      if (now - askedAt < RIGHT_MS) return;
      try {
        await authorize(exchange);
        // A stale decision means that the cluster was not asked or did not answer, so the next recheck asks again.
        if (isNew(exchange)) askedAt = allowedAt = now;
      } catch (error) {
        if (now - allowedAt > patienceMs(error, maxDecisionAgeMs)) throw error;
      }
    };
    let judgedAt = askedAt;
    const judge = async (outcome: ReturnType<Step>): Promise<void> => {
      const now = clock.monotonic();
      try {
        await outcome;
        judgedAt = now;
      } catch (error) {
        if (!isOverload(error) || now - judgedAt > BEARER_OVERLOADED_MS) throw error;
      }
    };
    return () => {
      const outcome = authenticate(exchange);
      return outcome instanceof Promise ? judge(outcome).then(right) : right();
    };
  };
}

/**
 * How old the last positive decision may be when a recheck fails with this error. If the cluster does not answer, the decision stays
 * valid for long; if the cluster refuses, it ends at once.
 */
function patienceMs(error: unknown, maxDecisionAgeMs: number): number {
  if (isOverload(error)) return RIGHT_OVERLOADED_MS;
  return error instanceof StatusError && error.answer.code >= 500 ? maxDecisionAgeMs : Number.NEGATIVE_INFINITY;
}

const isOverload = (error: unknown): boolean => error instanceof StatusError && error.answer.code === 429;

/** Whether the decision is new. A stale decision may still be valid, but it must not count as a new one. */
const isNew = ({ decision }: Exchange): boolean => decision?.source !== 'stale';
