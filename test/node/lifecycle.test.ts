import type { V1PodDisruptionBudget, V1SecretList } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import type { Pair } from '../integration/service/stand.ts';
import { NEXT } from './image/images.ts';
import type { Caller } from './stand/caller.ts';
import { kubectl } from './stand/kubectl.ts';
import { Release } from './stand/release.ts';

const SHARED = { sessions: { store: 'kubernetes' } };

describe('a release', () => {
  const release = new Release('lifecycle');
  let caller: Caller;
  let pair: Pair;
  let password: string;
  beforeAll(async () => {
    await release.install(SHARED);
    caller = await release.caller();
    password = await release.password();
    pair = await caller.signIn(password);
  });
  afterAll(() => release.remove());

  const commit = async (): Promise<string> => (await caller.get('/version')).body.gitCommit;

  /** The session from the beginning is good, and can be refreshed. */
  async function goesOn(): Promise<void> {
    expect((await caller.list(pair.access_token)).status).toBe(200);
    const { status, body } = await caller.refresh(pair.refresh_token);
    expect(status).toBe(200);
    pair = body;
  }

  test('is upgraded to another image at the same address, and sessions go on', async () => {
    const before = await commit();
    await release.upgrade({ ...SHARED, image: { tag: NEXT.tag } });
    expect(before).not.toBe(NEXT.gitCommit);
    await eventually(commit, (is) => is === NEXT.gitCommit);
    await goesOn();
  });

  test('is rolled back to the image before, and sessions go on', async () => {
    await release.rollback();
    await eventually(commit, (is) => is !== NEXT.gitCommit);
    await goesOn();
  });

  test('leaves keys, sessions and the first administrator when it is uninstalled, and nothing else', async () => {
    await release.uninstall();
    const kinds = 'deployments,replicasets,pods,services,poddisruptionbudgets,roles,rolebindings,networkpolicies';
    const left = () => release.kubectl(['get', kinds, '-o', 'name']);
    expect(await eventually(left, (names) => names === '')).toBe(''); // its pods take their time to end
    const cluster = await kubectl(['get', 'clusterroles,clusterrolebindings', '-o', 'name']);
    expect(cluster.split('\n').filter((name) => name.includes('gatehouse'))).toEqual([]);
    const { items } = await release.get<V1SecretList>('secrets');
    const names = items.map(({ metadata }) => metadata!.name!.replace(/(?<=^gatehouse-sessions-).*/, '<user>'));
    // Recent questions are written up to 20 s after a caller came.
    const lasting = names.filter((name) => name !== 'gatehouse-recent-questions');
    expect(lasting).toEqual(['gatehouse-first-administrator', 'gatehouse-sessions-<user>', 'gatehouse-signing-keys']);
  });

  test('finds them again when it is installed again: password and sessions are the same', async () => {
    await release.install(SHARED);
    expect(await release.password()).toBe(password);
    caller = await release.caller();
    await goesOn();
  });
});

describe('two replicas', () => {
  const release = new Release('eviction');
  beforeAll(async () => {
    await release.install({ ...SHARED, replicaCount: 2 });
    // A controller counts the ready pods, a moment after they are.
    const allowed = async () =>
      (await release.get<V1PodDisruptionBudget>('poddisruptionbudget', 'gatehouse')).status?.disruptionsAllowed;
    await eventually(allowed, (count) => count === 1);
  });
  afterAll(() => release.remove());

  /** The outcome of an eviction: nothing, or the API server's words. */
  async function evict(name: string): Promise<string> {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: release.namespace } };
    const path = `/api/v1/namespaces/${release.namespace}/pods/${name}/eviction`;
    return release.kubectl(['create', '--raw', path, '-f', '-'], JSON.stringify(eviction)).then(
      () => '',
      (error: Error) => error.message,
    );
  }

  test('are evicted one at a time: the second one when the first one is replaced', async () => {
    const [first, second] = (await release.pods()).map(({ metadata }) => metadata!.name!);
    expect(await evict(first!)).toBe('');
    expect(await evict(second!)).toContain("violate the pod's disruption budget");
    await release.kubectl(['rollout', 'status', 'deployment/gatehouse']);
    expect(
      await eventually(
        () => evict(second!),
        (outcome) => outcome === '',
      ),
    ).toBe('');
  });
});

test('two releases side by side have keys and sessions of their own', async () => {
  const releases = [new Release('blue', 'blue'), new Release('green', 'green')];
  try {
    await Promise.all(releases.map((release) => release.install()));
    const callers = await Promise.all(releases.map((release) => release.caller()));
    const pairs = await Promise.all(
      callers.map(async (caller, index) => caller.signIn(await releases[index]!.password())),
    );
    const answers = callers.map((caller) =>
      Promise.all(pairs.map(async ({ access_token }) => (await caller.list(access_token)).status)),
    );
    expect(await Promise.all(answers)).toEqual([
      [200, 401],
      [401, 200],
    ]);
  } finally {
    await Promise.all(releases.map((release) => release.remove()));
  }
});
