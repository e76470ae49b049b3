import { setTimeout as sleep } from 'node:timers/promises';
import { type Ask, Connection, requestBytes, type Target } from './connection.ts';

/** Callers that each ask again and again, on a connection of their own. */
export interface CallerPlan {
  readonly target: Target;
  /** One a caller. A `*` in its path stands for a number that no request had before. */
  readonly callers: readonly Ask[];
  /** From one request of a caller to its next; 0: as soon as the answer is there. */
  readonly everyMs: number;
  readonly measureMs: number;
}

export interface CallerReport {
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly latenciesMs: readonly number[];
}

/** Rejects on the first broken connection; whatever is answered is counted. */
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
