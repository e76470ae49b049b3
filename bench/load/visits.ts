import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../statistics.ts';
import { type Ask, Connection, requestBytes, type Target } from './connection.ts';

/** Visits of pages by people who have nothing of an earlier one. */
export interface VisitPlan {
  readonly target: Target;
  /** They are visited in turn. A `*` in a path stands for the number of the visit, so that no visit is like another. */
  readonly pages: readonly [Ask, ...Ask[]];
  readonly connections: number;
  readonly visits: number;
  /** Default: no pause; each connection has one visit at a time. */
  readonly perSecond?: number;
}

export interface VisitReport {
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Rejects on the first broken connection. Every answer is counted, whatever its status. */
export async function runVisits(plan: VisitPlan): Promise<VisitReport> {
  const connections = await Promise.all(Array.from({ length: plan.connections }, () => Connection.open(plan.target)));
  try {
    const statuses: Record<string, number> = {};
    const latenciesMs: number[] = [];
    const startAt = performance.now();
    const everyMs = plan.perSecond === undefined ? 0 : 1_000 / plan.perSecond;
    const numbers = Array.from({ length: plan.visits }, (_, nth) => nth).values();
    const visit = async (connection: Connection): Promise<void> => {
      for (const nth of numbers) {
        const early = startAt + nth * everyMs - performance.now();
        if (early > 0) await sleep(early);
        const page = plan.pages[nth % plan.pages.length] ?? plan.pages[0];
        const path = page.path.replace('*', String(nth));
        const askedAt = performance.now();
        const { status } = await connection.exchange(requestBytes(plan.target, { ...page, path }));
        latenciesMs.push(performance.now() - askedAt);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    };
    await Promise.all(connections.map(visit));
    const [p50Ms, p99Ms] = [quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.99)];
    return { statuses, seconds: (performance.now() - startAt) / 1_000, p50Ms, p99Ms };
  } finally {
    for (const connection of connections) connection.close();
  }
}
