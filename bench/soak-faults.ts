import { setTimeout as sleep } from 'node:timers/promises';
import type { Behaviour } from '../dev/cluster/behaviour.ts';
import type { SimulatedCluster } from '../dev/cluster/cluster.ts';
import type { Random } from '../src/random.ts';

/** What goes wrong with the cluster, and is over when it resolves. */
export interface SoakFault {
  readonly name: string;
  /** `lastsMs` where the fault has a length. */
  strike(cluster: SimulatedCluster, lastsMs: number): Promise<void>;
}

/** Every request, of every kind, behaves so for a while; the open watches are ended so that they meet it too. */
const everything = (name: string, behaviour: Behaviour): SoakFault => ({
  name,
  strike: async (cluster, lastsMs) => {
    const end = cluster.faults.until({}, behaviour);
    await cluster.restart();
    await sleep(lastsMs);
    end();
  },
});

/** The next two watches are disturbed after some events. */
const stream = (name: string, fault: object): SoakFault => ({
  name,
  strike: async (cluster) => {
    cluster.faults.times(2, { verb: 'watch' }, { stream: { afterEvents: 5, ...fault } });
    await cluster.restart();
  },
});

/** So many changes are lost with the history that a restored etcd does not have. */
const LOST_CHANGES = 50;

export const SOAK_FAULTS: readonly SoakFault[] = [
  { name: 'every connection reset', strike: (cluster) => cluster.restart() },
  { name: 'API server away', strike: (cluster, lastsMs) => cluster.restart(lastsMs) },
  everything('silence', { connection: 'silence' }),
  everything('429 with Retry-After', { status: 429, retryAfterSeconds: 2 }),
  everything('503', { status: 503 }),
  everything('403', { status: 403 }),
  stream('garbage in a watch', { inject: ['{"type":"MODIFIED","obj\n'], ending: 'close' }),
  stream('watch cut', { ending: 'cut' }),
  stream('watch silent', { ending: 'silence' }),
  {
    name: 'history compacted',
    strike: async (cluster) => {
      cluster.compact();
      await cluster.restart();
    },
  },
  {
    name: 'etcd restored',
    strike: async ({ objects, restore }) => {
      const back = objects.revision - LOST_CHANGES;
      if (back >= objects.compactedRevision) restore(String(back));
    },
  },
];

const SHORTEST_MS = 1_000;
const LONGEST_MS = 30_000;

/** One of the faults and its length. */
export function drawFault(random: Random): { readonly fault: SoakFault; readonly lastsMs: number } {
  const fault = SOAK_FAULTS[Math.floor(random.fraction() * SOAK_FAULTS.length)];
  if (!fault) throw new RangeError('a fraction was not below 1');
  return { fault, lastsMs: Math.round(SHORTEST_MS + random.fraction() * (LONGEST_MS - SHORTEST_MS)) };
}
