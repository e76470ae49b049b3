import type { Clock } from '../clock.ts';
import { MAX_STALENESS_MS } from '../max-staleness.ts';
import { StatusError } from '../status-error.ts';
import type { Exchange } from './exchange.ts';
import type { Step } from './step.ts';

/** The steps of the chain that judge a caller. */
export interface CallerSteps {
  readonly authenticate: Step;
  readonly authorize: Step;
}

/** Judges the caller of an exchange once more. Throws or rejects with what a new request would be refused with. */
export type Recheck = () => void | Promise<void>;

/**
 * A bearer is judged at each call, from memory. Its right is asked for at every third one or so: 30 s and the 10 s for which
 * a decision is remembered are the longest that a withdrawn right lasts. 10,000 users who each watch cost the cluster 330
 * reviews a second at worst.
 */
const RIGHT_MS = 29_000;

/** Begins the rechecks of exchanges that have just been let in. */
export function createRecheck({ authenticate, authorize }: CallerSteps, clock: Clock): (exchange: Exchange) => Recheck {
  return (exchange) => {
    let askedAt = clock.monotonic();
    let allowedAt = askedAt;
    const right = async (): Promise<void> => {
      const now = clock.monotonic();
      if (now - askedAt < RIGHT_MS) return;
      askedAt = now;
      try {
        await authorize(exchange);
        allowedAt = now;
      } catch (error) {
        if (!isNoAnswer(error) || now - allowedAt > MAX_STALENESS_MS) throw error;
      }
    };
    return () => {
      const outcome = authenticate(exchange);
      return outcome instanceof Promise ? outcome.then(right) : right();
    };
  };
}

/** The cluster was asked and did not decide. */
const isNoAnswer = (error: unknown): boolean => error instanceof StatusError && error.answer.code >= 500;
