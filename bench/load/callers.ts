import { setTimeout as sleep } from 'node:timers/promises';
import { type Ask, Connection, requestBytes, type Target } from './connection.ts';

/** Callers that each send requests again and again, on a connection of their own. */
export interface CallerPlan {
  readonly target: Target;
  /** The request of each caller. A `*` in its path stands for a number that no earlier request had. */
  readonly callers: readonly Ask[];
  /** The time from one request of a caller to its next; 0: as soon as the answer is there. */
  readonly everyMs: number;
  readonly measureMs: number;
}

export interface CallerReport {
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly latenciesMs: readonly number[];
}

/** Rejects on the first broken connection. Every answer is counted, whatever its status. */
export async function runCallers(plan: CallerPlan): Promise<CallerReport> {
  const statuses: Record<string, number> = {};
  const latenciesMs: number[] = [];
  const endAt = performance.now() + plan.measureMs;
  let asked = 0;
  const call = async (ask: Ask): Promise<void> => {
    const connection = await Connection.open(plan.target);
    try {
      while (performance.now() < endAt) {
        const askedAt = performance.now();
        const path = ask.path.replace('*', String(asked++));
        const { status } = await connection.exchange(requestBytes(plan.target, { ...ask, path }));
        const tookMs = performance.now() - askedAt;
        statuses[status] = (statuses[status] ?? 0) + 1;
        latenciesMs.push(tookMs);
        if (plan.everyMs > tookMs) await sleep(plan.everyMs - tookMs);
      }
    } finally {
      connection.close();
    }
  };
  await Promise.all(plan.callers.map(call));
  return { statuses, latenciesMs };
}

/** Sends requests one after the other on one connection and times each of them. Waits between them are not timed. */
export interface SamplePlan {
  readonly target: Target;
  readonly asks: readonly Ask[];
  /** The status that every answer must have. */
  readonly status: number;
  /** The pause before each request. Default: none. */
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
