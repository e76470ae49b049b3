import { ServedKinds } from '../../dev/cluster/api/served-kinds.ts';
import type { KubeObject } from '../../dev/cluster/kube-object.ts';
import { ObjectStore } from '../../dev/cluster/object-store.ts';
import { keepPodsLiving } from '../../dev/cluster/population/pod-lives.ts';
import { keepChanging, populate } from '../../dev/cluster/population/population.ts';
import { populateWorkloads } from '../../dev/cluster/population/workload-objects.ts';
import { seededRandom } from '../../dev/cluster/seeded-random.ts';
import { DANAS_NAMESPACES } from '../../dev/demo-person.ts';
import { installedRights, logRights, VIEWER, viewing } from '../../dev/demo-rights.ts';
import { FakeClock } from './fake-clock.ts';

/** An object that the demo and the tests put into the simulated cluster, and the name of its kind in the store. */
interface FixtureObject {
  readonly plural: string;
  readonly object: Pick<KubeObject, 'metadata'> & Readonly<Record<string, unknown>>;
}

interface Fixtures {
  readonly objects: readonly FixtureObject[];
  /** The kinds of the objects. */
  readonly kinds: ServedKinds;
}

/** A population with every kind of pod and its workloads, after some changes, and the rights of the demo. `readPackageFile` reads a file of the package. */
export async function fixtureObjects(readPackageFile: (name: string) => string): Promise<Fixtures> {
  const clock = new FakeClock();
  const random = seededRandom(1);
  const kinds = new ServedKinds('gatehouse');
  const store = new ObjectStore({ clock, random, kinds });
  // Some of the 2,000 pods are done, failed or waiting.
  populate(store, { nodes: 100, podsPerNode: 20, nodeBytes: 12_000, detailed: true });
  populateWorkloads(store, { now: clock.now() });
  const ending = new AbortController();
  const often = { everyMs: 1_000, clock, random };
  const changing = Promise.all([
    keepChanging(store, often, ending.signal),
    keepPodsLiving(store, often, ending.signal),
  ]);
  for (let second = 0; second < 20; second++) await clock.advance(1_000);
  ending.abort();
  await changing;
  const rights = [
    ...installedRights('gatehouse', readPackageFile),
    ...logRights('gatehouse'),
    VIEWER,
    ...viewing('dana', DANAS_NAMESPACES),
  ];
  for (const [plural, object] of rights) store.create(plural, object);
  const names = new Set(['namespaces', 'customresourcedefinitions', ...kinds.stored.map(({ storedAs }) => storedAs)]);
  return { objects: [...names].flatMap((plural) => store.list(plural).map((object) => ({ plural, object }))), kinds };
}
