import type { Clock } from '../../runtime/clock.ts';
import { answerTimedOut } from '../answer/refusals.ts';

/** The time limit of an answer under /kapis (HL-06), for steps that have to wait for something. */
export interface AnswerDeadline {
  /** Settles as `work` does, or rejects with 504 when that takes too long. `work` itself goes on. */
  bound<T>(work: Promise<T>): Promise<T>;
}

export function createAnswerDeadline(clock: Clock, limitMs: number): AnswerDeadline {
  return {
    bound: (work) =>
      new Promise((resolve, reject) => {
        const cancel = clock.after(limitMs, () => reject(answerTimedOut(limitMs)));
        work.then(resolve, reject).finally(cancel);
      }),
  };
}
