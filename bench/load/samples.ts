import { setTimeout as sleep } from 'node:timers/promises';
import { type Ask, Connection, requestBytes, type Target } from './connection.ts';

/** Requests one after the other on one connection, each timed: what is waited for between them is not. */
export interface SamplePlan {
  readonly target: Target;
  readonly asks: readonly Ask[];
  /** The status that every answer is to have. */
  readonly status: number;
  /** Before each request. Default: none. */
  readonly pauseMs?: number;
}

export interface SampleReport {
  /** In the order of the requests. */
  readonly latenciesMs: readonly number[];
}

/** Rejects on the first answer with another status. */
export async function runSamples({ target, asks, status, pauseMs }: SamplePlan): Promise<SampleReport> {
  const requests = asks.map((ask) => requestBytes(target, ask));
  const connection = await Connection.open(target);
  try {
    const latenciesMs: number[] = [];
    for (const request of requests) {
      if (pauseMs !== undefined) await sleep(pauseMs);
      const askedAt = performance.now();
      const answer = await connection.exchange(request);
      latenciesMs.push(performance.now() - askedAt);
      if (answer.status !== status) throw new Error(`a sample answered ${answer.status} instead of ${status}`);
    }
    return { latenciesMs };
  } finally {
    connection.close();
  }
}
