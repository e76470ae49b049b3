import type { NewObject } from '../../dev/cluster/kube-object.ts';
import { ObjectStore } from '../../dev/cluster/object-store.ts';
import { populate } from '../../dev/cluster/population.ts';
import { seededRandom } from '../../dev/cluster/seeded-random.ts';
import { systemClock } from '../../src/clock.ts';

/** A node as kubelets make them, with its list of images: what the bench's sizes are counted in. */
export const NODE_BYTES = 12_000;

/** The nodes that the simulated cluster would have, without what an API server gives them. */
export function makeNodes(count: number): NewObject[] {
  const store = new ObjectStore({ clock: systemClock, random: seededRandom(1) });
  populate(store, { nodes: count, podsPerNode: 0, nodeBytes: NODE_BYTES });
  return store.list('nodes').map(({ metadata, spec, status }) => {
    const { uid: _uid, resourceVersion: _version, creationTimestamp: _created, ...kept } = metadata;
    return { metadata: kept, ...(spec && { spec }), ...(status && { status }) };
  });
}
