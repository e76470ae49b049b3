import { expect, test } from 'vitest';
import { startChurn } from '../../../bench/churn.ts';
import { ObjectStore } from '../../../dev/cluster/object-store.ts';
import { populate } from '../../../dev/cluster/population/population.ts';
import { seededRandom } from '../../../dev/cluster/seeded-random.ts';
import { systemClock } from '../../../src/runtime/clock.ts';

test('makes as many changes as it tells, every one of them a new version', async () => {
  const store = new ObjectStore({ clock: systemClock, random: seededRandom(1) });
  populate(store, { nodes: 3, podsPerNode: 4 });
  const before = store.revision;
  const churn = startChurn(store, { kind: 'pods', perSecond: 2_000 });
  while (store.revision < before + 30) await systemClock.sleep(1);
  const { changes } = await churn.stop();
  expect(store.revision - before).toBe(changes);
});
