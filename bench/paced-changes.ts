import { setTimeout as sleep } from 'node:timers/promises';
import type { ObjectStore } from '../dev/cluster/object-store.ts';

export interface Pace {
  readonly kind: 'nodes' | 'pods';
  readonly perSecond: number;
}

/** Changes that go on until they are stopped. */
export interface Churn {
  /** Resolves, when the last change is made, to how many there were and in which time. */
  stop(): Promise<{ readonly changes: number; readonly seconds: number }>;
}

const TICK_MS = 10;
/** Of the changes of pods: so many in a hundred change what its node's usage is, the others are reports. */
const TELLING_SHARE = 10;

/**
 * Changes one object after the other, as a kubelet's reports do, evenly; what a busy machine held up is made up for. Each
 * is another change than the last of that object.
 */
export function startChurn(objects: ObjectStore, { kind, perSecond }: Pace): Churn {
  const keys = objects
    .list(kind)
    .map(({ metadata: { namespace, name } }) => (namespace ? `${namespace}/${name}` : name));
  const stopped = { now: false };
  const run = async (): Promise<{ changes: number; seconds: number }> => {
    const startAt = performance.now();
    let changes = 0;
    while (!stopped.now) {
      const due = Math.floor(((performance.now() - startAt) / 1_000) * perSecond);
      for (; changes < due; changes++) objects.patch(kind, keys[changes % keys.length] ?? '', change(kind, changes));
      await sleep(TICK_MS);
    }
    return { changes, seconds: (performance.now() - startAt) / 1_000 };
  };
  const done = run();
  return {
    stop: () => {
      stopped.now = true;
      return done;
    },
  };
}

function change(kind: Pace['kind'], serial: number): object {
  const metadata = { annotations: { 'bench.example.test/report': String(serial) } };
  if (kind === 'nodes' || serial % TELLING_SHARE !== 0) return { metadata };
  // Every other time round the pod has come to its end: what it asks for no longer counts.
  return { metadata, status: { phase: Math.floor(serial / TELLING_SHARE) % 2 === 0 ? 'Succeeded' : 'Running' } };
}
