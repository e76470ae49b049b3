import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import type { DrivenClock } from './driven.ts';
import type { Answer, Service } from './stand.ts';

/** The body of a 503. */
export const unavailable = (message: string, retryAfterSeconds: number) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason: 'ServiceUnavailable',
  details: { retryAfterSeconds },
  code: 503,
});

/** Lists and watches of nodes and pods fail from now on; the rest of the cluster goes on. */
export async function loseMirrors(cluster: SimulatedCluster): Promise<() => void> {
  const ends = ['nodes', 'pods'].map((kind) => cluster.faults.until({ kind }, { status: 503 }));
  await cluster.restart();
  return () => {
    for (const end of ends) end();
  };
}

const MOST_STEPS = 5_000;

interface Driven {
  readonly service: Service;
  readonly clock: DrivenClock;
}

/**
 * Lets time pass until the last proof of this data is so old. Another proof may come while the fault is new, so the age is looked at
 * again and again, with half of what is left between two looks.
 */
export async function grow({ service, clock }: Driven, resource: string, ageMs: number): Promise<void> {
  for (let step = 0; step < MOST_STEPS; step++) {
    const left = ageMs - (await service.metric(`gatehouse_cache_staleness_seconds{resource="${resource}"}`)) * 1_000;
    if (left < 1) return;
    await clock.spend(left > 10_000 ? left / 2 : left);
  }
  throw new Error(`${resource} did not grow so old`);
}

/** The status, and what says how old the data is. */
export const told = ({ status: code, headers }: Answer) => [code, headers.get('age'), headers.get('warning')];
