import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import type { Caller } from './stand/caller.ts';
import { killProcess, processOf } from './stand/container-process.ts';
import { Release } from './stand/release.ts';

const GOOD = { replicaCount: 2, sessions: { store: 'kubernetes' } };
/** Its pods wait for a Secret that is not there. */
const WAITING = { ...GOOD, users: { existingSecret: 'nosuch' } };
/** Its pods end at once: the users file has no users. */
const ENDING = { ...GOOD, users: { existingSecret: 'broken' } };

const release = new Release('bad-upgrade');
let caller: Caller;
let token: string;
/** The names of the pods that serve before the first bad upgrade. */
let old: string[];

beforeAll(async () => {
  await release.install(GOOD);
  await release.kubectl(['create', 'secret', 'generic', 'broken', '--from-literal=users.yaml=nonsense']);
  caller = await release.caller();
  token = (await caller.signIn(await release.password())).access_token;
  old = (await release.pods()).map(nameOf);
});
afterAll(() => release.remove());

const nameOf = ({ metadata }: V1Pod): string => metadata!.name!;
const isReady = ({ status }: V1Pod): boolean => status?.containerStatuses?.[0]?.ready ?? false;
const restarts = ({ status }: V1Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0;
const oldPods = async (): Promise<V1Pod[]> => (await release.pods()).filter((pod) => old.includes(nameOf(pod)));
const lists = async (): Promise<number> => (await caller.list(token)).status;

/** Kills the processes of both old pods, as too little memory would. Resolves when both are ready again, and reached. */
async function killOld(): Promise<void> {
  const before = await oldPods();
  const counts = new Map(before.map((pod) => [nameOf(pod), restarts(pod)]));
  for (const pod of before) await killProcess(await processOf(pod));
  const isBack = (pod: V1Pod): boolean => isReady(pod) && restarts(pod) > counts.get(nameOf(pod))!;
  const pods = await eventually(oldPods, (all) => all.length === 2 && all.every(isBack));
  expect(pods.map(nameOf).toSorted()).toEqual(old.toSorted());
  await release.led();
}

/** Resolves when the cluster has made a pod that is none of the old ones. */
const newPod = (): Promise<unknown> =>
  eventually(
    () => release.pods(),
    (pods) => pods.some((pod) => !old.includes(nameOf(pod))),
  );

describe('two replicas that serve while an upgrade does not get ready', () => {
  test('R-24 come back and serve when they are killed: the new pods wait for a Secret', async () => {
    await release.change(WAITING);
    await newPod();
    await killOld();
    expect(await lists()).toBe(200);
  });

  test('R-24 come back and serve when they are killed: the new pods end at once', async () => {
    await release.change(ENDING);
    await newPod();
    await killOld();
    expect(await lists()).toBe(200);
  });

  test('R-24 are replaced by pods with their configuration when one is deleted, as at the end of its node', async () => {
    const [gone, left] = old as [string, string];
    await release.kubectl(['delete', 'pod', gone]);
    const own = (await oldPods())[0]!.metadata!.ownerReferences![0]!.uid;
    const ofOld = async (): Promise<V1Pod[]> =>
      (await release.pods()).filter(({ metadata }) => metadata?.ownerReferences?.[0]?.uid === own);
    old = (await eventually(ofOld, (pods) => pods.length === 2 && pods.every(isReady))).map(nameOf);
    expect(old).toContain(left);
  });

  test('R-24 go on after the rollback', async () => {
    await release.rollback(1);
    await eventually(
      () => release.pods(),
      (pods) => pods.length === 2,
    );
    expect((await release.pods()).map(nameOf).toSorted()).toEqual(old.toSorted());
    await killOld();
    expect(await lists()).toBe(200);
  });
});
