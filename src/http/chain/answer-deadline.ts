import type { Clock } from '../../runtime/clock.ts';
import { answerTimedOut } from '../answer/refusals.ts';
import type { Exchange } from '../exchange.ts';

/**
 * The time limits of an answer under /kapis, for steps that have to wait. One is our own (HL-06). The caller may set another one in the
 * query, if the route reads it; it is counted from the beginning of the request.
 */
export interface AnswerDeadline {
  /** Settles as `work` does, or rejects with 504 when a limit is exceeded. `work` itself goes on. */
  bound<T>(work: Promise<T>, exchange?: Exchange): Promise<T>;
  /** Settles as `work` does, or rejects with 504 when the caller's limit is exceeded. Our own limit does not apply. */
  allowed<T>(work: Promise<T>, exchange: Exchange): Promise<T>;
  /** Throws the 504 if the caller's limit is exceeded. */
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
      // A limit longer than ours is ignored: it could be many days, and Node.js fires a timer of that length at once.
      return asked && asked.leftMs < limitMs ? within(work, asked) : work;
    },
    check: (exchange) => {
      const asked = callers(exchange);
      if (asked && asked.leftMs <= 0) throw answerTimedOut(asked.wholeMs);
    },
  };
}
