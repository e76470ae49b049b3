import type { KubeObject } from '../../dev/cluster/kube-object.ts';
import { ObjectStore } from '../../dev/cluster/object-store.ts';
import { keepChanging, populate } from '../../dev/cluster/population/population.ts';
import { seededRandom } from '../../dev/cluster/seeded-random.ts';
import { installedRights, logRights } from '../../dev/demo-rights.ts';
import { FakeClock } from './fake-clock.ts';

/** An object that the demo and the tests put into the simulated cluster, and the plural of its kind. */
export interface FixtureObject {
  readonly plural: string;
  readonly object: Pick<KubeObject, 'metadata'> & Readonly<Record<string, unknown>>;
}

/** A population with every kind of pod, after some changes, and the rights of the demo. `readPackageFile` reads a file of the package. */
export async function fixtureObjects(readPackageFile: (name: string) => string): Promise<readonly FixtureObject[]> {
  const clock = new FakeClock();
  const random = seededRandom(1);
  const store = new ObjectStore({ clock, random });
  // Some of the 2,000 pods are done, failed or waiting.
  populate(store, { nodes: 100, podsPerNode: 20, nodeBytes: 12_000 });
  const ending = new AbortController();
  const changing = keepChanging(store, { everyMs: 1_000, clock, random }, ending.signal);
  for (let second = 0; second < 20; second++) await clock.advance(1_000);
  ending.abort();
  await changing;
  const rights = [...installedRights('gatehouse', readPackageFile), ...logRights('gatehouse')];
  for (const [plural, object] of rights) store.create(plural, object);
  return [...new Set(['namespaces', 'nodes', 'pods', ...rights.map(([plural]) => plural)])].flatMap((plural) =>
    store.list(plural).map((object) => ({ plural, object })),
  );
}
