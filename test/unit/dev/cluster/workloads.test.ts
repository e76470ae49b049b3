import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../dev/cluster/kube-object.ts';
import { ObjectStore } from '../../../../dev/cluster/object-store.ts';
import { aboutPod, populateEvents, seeEvent } from '../../../../dev/cluster/population/events.ts';
import { keepPodsLiving } from '../../../../dev/cluster/population/pod-lives.ts';
import { populate } from '../../../../dev/cluster/population/population.ts';
import { populateWorkloads } from '../../../../dev/cluster/population/workload-objects.ts';
import { seededRandom } from '../../../../dev/cluster/seeded-random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const NOW = Date.parse('2026-03-09T10:00:00Z');

function populated(options: { readonly nodes?: number; readonly podsPerNode?: number } = {}) {
  const clock = new FakeClock();
  const store = new ObjectStore({ clock, random: seededRandom(1) });
  populate(store, { nodes: 12, podsPerNode: 14, detailed: true, ...options });
  populateWorkloads(store, { now: NOW });
  return { store, clock };
}

interface Owner {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}
const ownersOf = ({ metadata }: KubeObject): readonly Owner[] =>
  (metadata['ownerReferences'] ?? []) as readonly Owner[];
const COLLECTIONS: Readonly<Record<string, string>> = {
  ReplicaSet: 'replicasets',
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
  DaemonSet: 'daemonsets',
  Job: 'jobs',
  CronJob: 'cronjobs',
};

test('every pod but the static ones belongs to an object that is there, and so does that', () => {
  const { store } = populated();
  const kinds = ['pods', 'replicasets', 'jobs'];
  const owned = kinds
    .flatMap((kind) => store.list(kind))
    .flatMap((object) => ownersOf(object).map((owner) => ({ object, owner })));
  const dynamic = owned.filter(({ owner }) => owner.kind !== 'Node');
  expect(dynamic.length).toBeGreaterThan(150);
  for (const { object, owner } of dynamic) {
    const found = store.get(COLLECTIONS[owner.kind]!, `${object.metadata.namespace}/${owner.name}`);
    expect([owner, found?.metadata.uid]).toEqual([owner, owner.uid]);
  }
});

test('a deployment, its service and its pods agree in labels and numbers', () => {
  const { store } = populated();
  for (const { metadata, spec, status } of store.list('deployments')) {
    const labels = (spec!['selector'] as { matchLabels: object }).matchLabels;
    const pods = store.list('pods').filter((pod) => JSON.stringify(pod.metadata.labels) === JSON.stringify(labels));
    expect([metadata.name, spec!['replicas'], status!['replicas']]).toEqual([metadata.name, pods.length, pods.length]);
    expect(store.get('services', `${metadata.namespace}/${metadata.name}`)!.spec!['selector']).toEqual(labels);
  }
  const states = store
    .list('deployments')
    .map(({ status }) => Number(status!['replicas']) - Number(status!['readyReplicas']));
  expect(states.filter((missing) => missing > 0)).toHaveLength(1);
  expect(store.get('deployments', 'shop/newsletter')!.spec!['replicas']).toBe(0);
});

test('a stateful pod mounts a claim that is bound to a volume', () => {
  const { store } = populated();
  const pods = store.list('pods').filter((pod) => ownersOf(pod)[0]?.kind === 'StatefulSet');
  expect(pods.length).toBeGreaterThan(5);
  for (const { metadata, spec } of pods) {
    const [claim] = JSON.stringify(spec!['volumes']).match(/(?<="claimName":")[^"]+/) ?? [];
    const { volumeName } = store.get('persistentvolumeclaims', `${metadata.namespace}/${claim}`)!.spec as {
      volumeName: string;
    };
    expect(store.get('persistentvolumes', volumeName)!.status).toEqual({ phase: 'Bound' });
  }
});

test('there is a dozen of certificates, a custom resource, one of them not ready', () => {
  const { store } = populated();
  const ready = store
    .list('certificates.cert-manager.io')
    .map(({ status }) => JSON.stringify(status).includes('"True"'));
  expect(ready.length).toBeGreaterThanOrEqual(12);
  expect(ready.filter((is) => !is)).toHaveLength(1);
});

test('a population without nodes has no workloads', () => {
  const { store } = populated({ nodes: 0 });
  expect(store.list('deployments')).toEqual([]);
});

async function livingFor(ticks: number, seed = 7) {
  const { store, clock } = populated();
  const before = { revision: store.revision, pods: store.list('pods').length };
  const stop = new AbortController();
  const living = keepPodsLiving(store, { everyMs: 500, clock, random: seededRandom(seed) }, stop.signal);
  await clock.advance(ticks * 500);
  stop.abort();
  await living;
  const changes = store.collection('pods').changesAfter(before.revision);
  return { store, changes, before };
}

test('living pods change once each time, and stay as many but for a few', async () => {
  const { store, changes, before } = await livingFor(600);
  // The first step of a life that finds its pod gone changes nothing.
  expect(changes.length).toBeGreaterThan(550);
  expect(changes.length).toBeLessThanOrEqual(600);
  expect(Math.abs(store.list('pods').length - before.pods)).toBeLessThanOrEqual(6);
  expect(new Set(changes.map(({ type }) => type))).toEqual(new Set(['ADDED', 'MODIFIED', 'DELETED']));
  const phases = new Set(changes.map(({ entry }) => entry.object.status?.['phase']));
  expect([...phases].sort()).toEqual(['Failed', 'Pending', 'Running', 'Succeeded']);
  expect(JSON.stringify(store.list('pods'))).toMatch(/"restartCount":[1-9]/);
});

test('living pods live the same lives for the same seed, and others for another', async () => {
  const text = async (seed: number): Promise<string> =>
    (await livingFor(40, seed)).changes.map(({ type, entry }) => `${type} ${entry.key}`).join('\n');
  const first = await text(3);
  expect(await text(3)).toBe(first);
  expect(await text(4)).not.toBe(first);
});

test('every container says since when it is in its state, and one that was started again how it ended', async () => {
  const { store } = await livingFor(100);
  const statuses = store
    .list('pods')
    .flatMap(({ status }) => (status?.['containerStatuses'] ?? []) as ContainerStatus[]);
  for (const { state, restartCount, lastState } of statuses) {
    if (state.running || state.terminated) expect(JSON.stringify(state)).toMatch(/(At":"2026-\S+Z")/);
    if (restartCount > 0) expect(lastState?.terminated?.finishedAt).toMatch(/^2026-/);
  }
  expect(statuses.some(({ restartCount }) => restartCount > 0)).toBe(true);
  for (const { spec, status } of store.list('pods'))
    expect(status?.['startTime'] !== undefined).toBe(spec?.['nodeName'] !== undefined);
});

interface ContainerStatus {
  readonly state: { readonly running?: object; readonly terminated?: object };
  readonly lastState?: { readonly terminated?: { readonly finishedAt?: string } };
  readonly restartCount: number;
}

const eventsOf = (store: ObjectStore, name: string): readonly KubeObject[] =>
  store.list('events').filter((event) => (event['involvedObject'] as { name: string }).name === name);

test('there are events about nodes and pods that need attention, with the uid of each', () => {
  const { store } = populated();
  populateEvents(store, { now: NOW });
  const events = store.list('events');
  expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['Normal', 'Warning']));
  for (const { involvedObject, metadata } of events) {
    const { kind, name, namespace, uid } = involvedObject as Record<string, string>;
    const about = store.get(kind === 'Node' ? 'nodes' : 'pods', kind === 'Node' ? name! : `${namespace}/${name}`);
    expect([name, uid, metadata.namespace]).toEqual([name, about?.metadata.uid, namespace ?? 'default']);
  }
  expect(eventsOf(store, 'worker-c-3').map(({ reason }) => reason)).toEqual(['NodeNotReady']);
  const waiting = store.list('pods').find(({ status }) => status?.['phase'] === 'Pending')!;
  expect(eventsOf(store, waiting.metadata.name)).toMatchObject([{ type: 'Warning', reason: 'FailedScheduling' }]);
});

test('an event that is seen again is counted, and one that was not seen for an hour is forgotten', () => {
  const { store } = populated();
  const [pod, other] = store.list('pods');
  const said = { type: 'Warning', reason: 'BackOff', message: 'x', component: 'kubelet' } as const;
  seeEvent(store, aboutPod(pod!), said, NOW);
  seeEvent(store, aboutPod(pod!), said, NOW + 60_000);
  expect(store.list('events')).toMatchObject([
    { count: 2, firstTimestamp: '2026-03-09T10:00:00Z', lastTimestamp: '2026-03-09T10:01:00Z' },
  ]);
  seeEvent(store, aboutPod(other!), said, NOW + 62 * 60_000);
  expect(store.list('events').map(({ involvedObject }) => involvedObject)).toMatchObject([
    { name: other!.metadata.name },
  ]);
});

test('a pod that crashes is said to back off', async () => {
  const { store } = await livingFor(100);
  const reasons = new Set(store.list('events').map(({ type, reason }) => `${type} ${reason}`));
  expect(reasons).toEqual(new Set(['Warning BackOff', 'Normal Scheduled', 'Normal Killing']));
});

test('the status of a deployment follows its pods', async () => {
  const { store, before } = await livingFor(100);
  expect(store.collection('deployments').changesAfter(before.revision).length).toBeGreaterThan(20);
  for (const { metadata, status } of store.list('deployments')) {
    const pods = store
      .list('pods')
      .filter(
        (pod) =>
          pod.metadata.namespace === metadata.namespace &&
          pod.metadata.labels!['app.kubernetes.io/name'] === metadata.name,
      );
    const ready = pods.filter((pod) =>
      JSON.stringify(pod.status?.['conditions']).includes('"type":"Ready","status":"True"'),
    );
    expect([metadata.name, status!['readyReplicas']]).toEqual([metadata.name, ready.length]);
  }
});
