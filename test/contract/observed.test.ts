import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimulatedCluster, startSimulatedCluster } from '../../dev/cluster/cluster.ts';
import { GROUPS, readCases } from '../support/observed/case.ts';
import { type FixtureState, kindOf, podsOf, storedFixture } from '../support/observed/fixture.ts';
import { ADMINS_BINDING, ADMINS_ROLE } from '../support/observed/people.ts';
import { type ObservedStand, startObserved } from '../support/observed/stand.ts';

const CASES = GROUPS.flatMap(readCases);
const STATES: readonly FixtureState[] = ['full', 'no-pods', 'only-finished'];

interface Stand extends ObservedStand {
  readonly cluster: SimulatedCluster;
}

async function stand(state: FixtureState): Promise<Stand> {
  const cluster = await startSimulatedCluster();
  const objects = storedFixture();
  for (const node of kindOf(objects, 'Node')) cluster.objects.create('nodes', node);
  for (const pod of podsOf(objects, state)) cluster.objects.create('pods', pod);
  cluster.objects.create('clusterroles', ADMINS_ROLE);
  cluster.objects.create('clusterrolebindings', ADMINS_BINDING);
  return { cluster, ...(await startObserved(cluster.kubeconfig())) };
}

// The cases run in the recorded order, because each changes what the next one sees.
describe('the recorded answers', { shuffle: false }, () => {
  describe.each(STATES)('with the cluster in state %s', (state) => {
    const cases = CASES.filter((one) => (one.state ?? 'full') === state && one.needs === undefined);
    let running: Stand;

    beforeAll(async () => {
      running = await stand(state);
    });

    afterAll(async () => {
      await running?.gatehouse.stop();
      await running?.cluster.stop();
    });

    test.each(cases)('$id', async (one) => {
      expect(await running.corpus.problems(one)).toEqual([]);
    });
  });
});
