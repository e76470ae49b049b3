import type { Clock } from '../../runtime/clock.ts';
import { StatusError } from '../../status-error.ts';
import type { Exchange } from '../chain/exchange.ts';
import type { Step } from '../chain/step.ts';

/** The steps of the chain that judge a caller. */
export interface CallerSteps {
  readonly authenticate: Step;
  readonly authorize: Step;
}

/** Judges the caller of an exchange once more. Throws or rejects with what a new request would be refused with. */
export type Recheck = () => void | Promise<void>;

/**
 * A bearer is judged at each call, from memory. Its right is asked for at every third one or so, and at each one until there is a
 * new answer: 30 s and the 10 s for which a decision is remembered are the longest that a withdrawn right lasts. 10,000 users who each watch cost the cluster 330
 * reviews a second at worst.
 */
const RIGHT_MS = 29_000;
/**
 * Our own want of places (429) makes no old answer good: asked again at the next call, 10 s later, and then it is the end. That holds for the right, and for the bearer of a service account, which the cluster judges.
 */
const RIGHT_OVERLOADED_MS = RIGHT_MS + 10_000;
const BEARER_OVERLOADED_MS = 19_000;

export interface RecheckParts extends CallerSteps {
  readonly clock: Clock;
  /** For how long the last decision on a caller holds while the cluster gives no new one. */
  readonly maxDecisionAgeMs: number;
}

/** Begins the rechecks of exchanges that have just been let in. */
export function createRecheck({
  authenticate,
  authorize,
  clock,
  maxDecisionAgeMs,
}: RecheckParts): (exchange: Exchange) => Recheck {
  return (exchange) => {
    let askedAt = clock.monotonic();
    let allowedAt = isNew(exchange) ? askedAt : Number.NEGATIVE_INFINITY;
    const right = async (): Promise<void> => {
      const now = clock.monotonic();
      if (now - askedAt < RIGHT_MS) return;
      try {
        await authorize(exchange);
        // Else nobody was asked, or nobody answered: the next call asks again.
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

/** How old the last yes may be when a recheck ends like this. The cluster's silence leaves it good for long, its no not at all. */
function patienceMs(error: unknown, maxDecisionAgeMs: number): number {
  if (isOverload(error)) return RIGHT_OVERLOADED_MS;
  return error instanceof StatusError && error.answer.code >= 500 ? maxDecisionAgeMs : Number.NEGATIVE_INFINITY;
}

const isOverload = (error: unknown): boolean => error instanceof StatusError && error.answer.code === 429;

/** Whether the last decision is one of the cluster's own, of now. An old one that still holds has its age already. */
const isNew = ({ decision }: Exchange): boolean => decision?.source !== 'stale';
