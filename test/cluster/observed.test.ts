import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { GROUPS, readCases } from '../support/observed/case.ts';
import {
  createNodes,
  createPods,
  type FixtureObject,
  type FixtureState,
  readStored,
  storedFixture,
} from '../support/observed/fixture.ts';
import { ADMINS_BINDING, ADMINS_ROLE } from '../support/observed/people.ts';
import { type ObservedStand, startObserved } from '../support/observed/stand.ts';

/** These neither depend on the cluster nor pass through it. */
const INDEPENDENT = ['token-malformed', 'token-refresh', 'login-throttle'];

const CASES = GROUPS.filter((group) => !INDEPENDENT.includes(group)).flatMap(readCases);

/** In this order, because each has the pods of the one before and more. */
const STATES: readonly FixtureState[] = ['no-pods', 'only-finished', 'full'];

describe('the recorded answers in front of a real API server', () => {
  let cluster: ControlPlane;

  beforeAll(async () => {
    cluster = await startControlPlane();
    for (const object of [ADMINS_ROLE, ADMINS_BINDING]) {
      await cluster.kubectl(['create', '-f', '-'], JSON.stringify(object));
    }
    await createNodes(cluster.kubectl);
    await untilAllowed(cluster);
  });

  afterAll(() => cluster?.stop());

  describe.each(STATES)('with the cluster in state %s', (state) => {
    const cases = CASES.filter((one) => (one.state ?? 'full') === state && one.needs === undefined);
    let stand: ObservedStand;

    beforeAll(async () => {
      await createPods(cluster.kubectl, state);
      stand = await startObserved(await readFile(await cluster.kubeconfigFile(), 'utf8'));
    });

    afterAll(() => stand?.gatehouse.stop());

    test.each(cases)('$id', async (one) => {
      expect(await stand.corpus.problems(one)).toEqual([]);
    });
  });

  test('the stored form of the fixture is what this API server stores', async () => {
    const stored = await readStored(cluster.kubectl);
    expect(stored.map(lasting)).toEqual(storedFixture().map(lasting));
  });
});

/** Without the members that differ at each creation. */
function lasting({ metadata, ...object }: FixtureObject): object {
  const { uid: _, creationTimestamp: __, ...kept } = metadata as FixtureObject['metadata'] & { uid?: string };
  return { ...object, metadata: kept };
}

const ATTEMPTS = 600;

/** RBAC sees a new binding a moment later; an answer asked too early would be remembered for seconds. */
async function untilAllowed({ kubectl }: ControlPlane): Promise<void> {
  const question = ['auth', 'can-i', 'list', 'nodes.resources.kubesphere.io', '--as=admin', '--as-group=admins'];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const answer = await kubectl(question).catch(() => 'no'); // kubectl ends with 1 to say no
    if (answer.trim() === 'yes') return;
    await sleep(50);
  }
  throw new Error('the binding of the cases is not in force');
}
