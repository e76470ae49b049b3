import type { Clock } from '../../runtime/clock.ts';
import { answerTimedOut } from '../answer/refusals.ts';
import type { Exchange } from '../exchange.ts';

/**
 * The time limits of an answer under /kapis, for steps that have to wait for something: ours (HL-06), and the one that the caller
 * sets in its query, if the route reads it. That one begins with the request.
 */
export interface AnswerDeadline {
  /** Settles as `work` does, or rejects with 504 when that takes too long. `work` itself goes on. */
  bound<T>(work: Promise<T>, exchange?: Exchange): Promise<T>;
  /** Settles as `work` does, or rejects with 504 when the caller's own limit is over. Ours does not count. */
  allowed<T>(work: Promise<T>, exchange: Exchange): Promise<T>;
  /** Throws the 504 when the caller's limit is over. */
  check(exchange: Exchange): void;
}

interface Limit {
  readonly leftMs: number;
  readonly wholeMs: number;
}

export function createAnswerDeadline(clock: Clock, limitMs: number): AnswerDeadline {
  const own: Limit = { leftMs: limitMs, wholeMs: limitMs };
  const within = <T>(work: Promise<T>, { leftMs, wholeMs }: Limit): Promise<T> =>
    new Promise((resolve, reject) => {
      const cancel = clock.after(Math.max(0, leftMs), () => reject(answerTimedOut(wholeMs)));
      work.then(resolve, reject).finally(cancel);
    });
  const callers = (exchange: Exchange | undefined): Limit | undefined => {
    const wholeMs = exchange?.route?.allowedMs?.(exchange);
    if (!exchange || wholeMs === undefined) return undefined;
    return { leftMs: exchange.startedAt + wholeMs - clock.monotonic(), wholeMs };
  };
  return {
    bound: (work, exchange) => {
      const asked = callers(exchange);
      return within(work, asked && asked.leftMs < limitMs ? asked : own);
    },
    allowed: (work, exchange) => {
      const asked = callers(exchange);
      // Ignores a longer time than ours: it could mean a timer of many days, which Node.js fires at once.
      return asked && asked.leftMs < limitMs ? within(work, asked) : work;
    },
    check: (exchange) => {
      const asked = callers(exchange);
      if (asked && asked.leftMs <= 0) throw answerTimedOut(asked.wholeMs);
    },
  };
}
