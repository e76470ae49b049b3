import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { NAMESPACE } from './installation.ts';
import { rights, rule, user } from './rights.ts';
import { served } from './served.ts';

const ROOT = '/kapis/resources.gatehouse.io/v1alpha3';
const SNAPSHOTS = 'snapshot.storage.k8s.io';
const OLD = '2020-01-01T00:00:00Z';
const LATER = '2099-01-01T00:00:00Z';

let cluster: ControlPlane;
let gatehouse: Gatehouse;
/** Serves the console of KubeSphere. */
let ofConsole: Gatehouse | undefined;
let token: string;

/** An object with the status that a controller would write. */
interface Made {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly [member: string]: unknown;
}

const CONTAINERS = { containers: [{ name: 'main', image: 'example/main' }] };
const CONDITION_READY = { type: 'Ready', status: 'True' };

const containerIn = (state: object, more: object = {}): object => ({
  ...{ name: 'main', image: 'example/main', imageID: '', restartCount: 0, ready: false, ...more },
  state,
});
const ended = (exitCode: number, reason: string): object => ({ terminated: { exitCode, reason } });

function pod(namespace: string, name: string, status: object, { labels = {}, spec = {} } = {}): Made {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, labels } },
    spec: { ...CONTAINERS, ...spec },
    status,
  };
}

const CLAIM_VOLUME = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };
const WEB = { labels: { app: 'web' } };
const RUNNING = {
  phase: 'Running',
  conditions: [CONDITION_READY],
  containerStatuses: [containerIn({ running: {} }, { ready: true, restartCount: 3 })],
};

const PODS: readonly Made[] = [
  pod('red', 'running', RUNNING, { ...WEB, spec: { nodeName: 'node-a' } }),
  pod('red', 'pending', { phase: 'Pending' }, { ...WEB, spec: CLAIM_VOLUME }),
  pod('red', 'crashing', {
    phase: 'Running',
    containerStatuses: [containerIn({ waiting: { reason: 'CrashLoopBackOff' } }, { restartCount: 7 })],
  }),
  pod('red', 'failed', { phase: 'Failed', containerStatuses: [containerIn(ended(1, 'Error'))] }),
  pod('red', 'rejected', { phase: 'Failed', reason: 'OutOfcpu' }),
  pod('red', 'evicted', { phase: 'Failed', reason: 'Evicted' }),
  pod('red', 'completed', { phase: 'Succeeded', containerStatuses: [containerIn(ended(0, 'Completed'))] }),
  pod('red', 'succeeded', {
    phase: 'Succeeded',
    conditions: [{ type: 'Ready', status: 'False', reason: 'PodCompleted' }],
  }),
  pod('blue', 'running', RUNNING, WEB),
];

const service = (namespace: string, name: string, selector?: object): Made => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name } },
  spec: { ports: [{ port: 80 }], ...(selector && { selector }) },
});

const template = { metadata: { labels: { app: 'web' } }, spec: CONTAINERS };
const selector = { matchLabels: { app: 'web' } };

const workload = (kind: string, name: string, spec: object, status: object): Made => ({
  ...{ apiVersion: 'apps/v1', kind, metadata: { namespace: 'red', name } },
  spec: { selector, template, ...spec },
  status,
});
const deployment = (name: string, replicas: number, readyReplicas: number, conditions: object[] = []): Made =>
  workload('Deployment', name, { replicas }, { replicas, readyReplicas, conditions });
const statefulSet = (name: string, replicas: number, readyReplicas: number): Made =>
  workload('StatefulSet', name, { replicas, serviceName: 'web' }, { replicas, readyReplicas });
const daemonSet = (name: string, desiredNumberScheduled: number, numberReady: number): Made =>
  workload(
    'DaemonSet',
    name,
    {},
    { desiredNumberScheduled, numberReady, currentNumberScheduled: 0, numberMisscheduled: 0 },
  );

const isTrue = (type: string, lastTransitionTime = OLD): object => ({ type, status: 'True', lastTransitionTime });
const jobSpec = { template: { spec: { ...CONTAINERS, restartPolicy: 'Never' } } };
const job = (name: string, status: object): Made => ({
  ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { namespace: 'red', name } },
  spec: jobSpec,
  status,
});
const cronJob = (name: string, suspend: boolean, status: object): Made => ({
  ...{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { namespace: 'red', name } },
  spec: { schedule: '0 0 1 1 *', suspend, jobTemplate: { spec: jobSpec } },
  status,
});

const WORKLOADS: readonly Made[] = [
  deployment('ready', 2, 2, [{ ...isTrue('Available', LATER), lastUpdateTime: LATER }]),
  deployment('rolling', 4, 1),
  deployment('off', 0, 0),
  statefulSet('ready', 1, 1),
  statefulSet('rolling', 2, 1),
  statefulSet('off', 0, 0),
  daemonSet('ready', 2, 2),
  daemonSet('rolling', 2, 1),
  daemonSet('off', 0, 0),
  job('done', {
    ...{ startTime: OLD, completionTime: OLD, succeeded: 1 },
    conditions: [isTrue('SuccessCriteriaMet'), isTrue('Complete')],
  }),
  job('broken', { startTime: OLD, failed: 1, conditions: [isTrue('FailureTarget'), isTrue('Failed')] }),
  job('going', { active: 1 }),
  cronJob('paused', true, { lastScheduleTime: OLD }),
  cronJob('running', false, { lastScheduleTime: LATER }),
  cronJob('never', false, {}),
  {
    ...{
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { namespace: 'red', name: 'scaler' },
    },
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'ready' } },
  },
];

const volume = (name: string, phase: string, storageClassName?: string): Made => ({
  ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name } },
  spec: {
    ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
    ...(storageClassName && { storageClassName }),
  },
  status: { phase },
});
const claim = (name: string, phase: string, storageClassName?: string): Made => ({
  ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace: 'red', name } },
  spec: {
    ...{ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    ...(storageClassName !== undefined && { storageClassName }),
  },
  status: { phase },
});
const VOLUMES: readonly Made[] = [
  volume('fast', 'Bound', 'ssd'),
  volume('plain', 'Available'),
  claim('data', 'Bound', 'ssd'),
  claim('classless', 'Pending', ''),
  claim('open', 'Pending'),
];

const role = (kind: 'Role' | 'ClusterRole', name: string, aggregated?: readonly string[]): Made => ({
  ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind },
  metadata: {
    ...{ name, ...(kind === 'Role' && { namespace: 'red' }) },
    ...(aggregated && { annotations: { 'iam.gatehouse.io/aggregation-roles': JSON.stringify(aggregated) } }),
  },
  rules: [],
});
const ROLES: readonly Made[] = [
  role('Role', 'all', ['part', 'gone']),
  role('Role', 'part'),
  role('ClusterRole', 'test-all', ['test-part']),
  role('ClusterRole', 'test-part'),
];

const definition = (plural: string, kind: string, scope: 'Cluster' | 'Namespaced'): Made => ({
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: {
    name: `${plural}.${SNAPSHOTS}`,
    annotations: { 'api-approved.kubernetes.io': 'unapproved, a definition of a test' },
  },
  spec: {
    ...{ group: SNAPSHOTS, scope, names: { plural, singular: kind.toLowerCase(), kind } },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});
const DEFINITIONS: readonly Made[] = [
  definition('volumesnapshots', 'VolumeSnapshot', 'Namespaced'),
  definition('volumesnapshotclasses', 'VolumeSnapshotClass', 'Cluster'),
  definition('volumesnapshotcontents', 'VolumeSnapshotContent', 'Cluster'),
];
const ofSnapshots = (kind: string, name: string, more: object, namespace?: string): Made => ({
  ...{ apiVersion: `${SNAPSHOTS}/v1`, kind, metadata: { name, ...(namespace && { namespace }) } },
  ...more,
});
const SNAPSHOT_OBJECTS: readonly Made[] = [
  ofSnapshots(
    'VolumeSnapshot',
    'ready',
    {
      spec: { volumeSnapshotClassName: 'ssd', source: { persistentVolumeClaimName: 'data' } },
      status: { readyToUse: true },
    },
    'red',
  ),
  ofSnapshots('VolumeSnapshot', 'new', { spec: {} }, 'red'),
  ofSnapshots('VolumeSnapshotClass', 'ssd', { driver: 'ssd.example.com', deletionPolicy: 'Delete' }),
  ofSnapshots('VolumeSnapshotContent', 'ready', {
    spec: { volumeSnapshotClassName: 'ssd', volumeSnapshotRef: { namespace: 'red', name: 'ready' } },
    status: { readyToUse: true },
  }),
  ofSnapshots('VolumeSnapshotContent', 'bare', { spec: {} }),
];

const list = (items: readonly object[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
const create = (items: readonly object[]): Promise<string> => cluster.kubectl(['create', '-f', '-'], list(items));

/** Creates the objects, and writes the status of those that have one as a controller does. */
async function make(objects: readonly Made[]): Promise<void> {
  await create(objects);
  const withStatus = objects.filter(({ status, apiVersion }) => status && !apiVersion.startsWith(SNAPSHOTS));
  for (const { kind, metadata, status } of withStatus) {
    const { name, namespace } = metadata as { name: string; namespace?: string };
    const place = namespace ? ['--namespace', namespace] : [];
    const patch = JSON.stringify({ status });
    await cluster.kubectl(['patch', kind, name, ...place, '--subresource=status', '--type=merge', '--patch', patch]);
  }
}

beforeAll(async () => {
  cluster = await startControlPlane();
  await create(DEFINITIONS);
  for (const { metadata } of DEFINITIONS) await served(cluster, (metadata as { name: string }).name);
  await create([
    ...['red', 'blue'].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    ...rights('test-admin', [rule('*', '*', ['*'])], user('admin')),
    ...rights('place', [rule('', 'pods', ['list']), rule('', 'services', ['list'])], user('place'), 'red'),
    ...rights('place', [rule('', 'pods', ['list'])], user('place'), 'blue'),
    ...rights('test-snapshots', [rule(SNAPSHOTS, '*', ['get', 'list', 'watch'])], {
      ...{ kind: 'ServiceAccount', namespace: NAMESPACE, name: 'gatehouse' },
    }),
  ]);
  await make([...VOLUMES, ...PODS, ...WORKLOADS, ...ROLES, ...SNAPSHOT_OBJECTS]);
  await make([
    service('red', 'web', { app: 'web' }),
    service('blue', 'web', { app: 'other' }),
    service('red', 'headless'),
  ]);
  gatehouse = await startGatehouse(cluster, { admin: [], place: [] });
  token = await gatehouse.signIn('admin');
  // RBAC sees new bindings a moment later.
  for (const kind of ['pods', 'volumesnapshots'])
    await eventually(
      () => gatehouse.get(`${ROOT}/${kind}?limit=1`, token),
      ({ status }) => status === 200,
    );
});
afterAll(async () => {
  await ofConsole?.stop();
  await gatehouse?.stop();
  await cluster?.stop();
});

interface ListedMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Listed {
  readonly items: readonly { readonly metadata: ListedMetadata }[];
  readonly message?: string;
}

/** `namespace/name` of each item in the order of the answer, or the status of a refusal. */
async function names(path: string, by = token): Promise<readonly string[] | number> {
  const { status, body } = await gatehouse.get(`${ROOT}/${path}`, by);
  if (status !== 200) return status;
  return (body as Listed).items.map(({ metadata: { name, namespace } }) => (namespace ? `${namespace}/${name}` : name));
}

/** The names of all objects in the namespace `red`, or without one, that a query finds. */
const found = async (path: string): Promise<readonly string[] | number> => {
  const all = await names(`${path}&sortBy=name&ascending=true`);
  return typeof all === 'number' ? all : all.filter((name) => !name.includes('/') || name.startsWith('red/'));
};

const red = (...all: readonly string[]): string[] => all.map((name) => `red/${name}`);

/** What kubectl prints in these columns, by the name of the pod. */
async function columns(...wanted: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const table = await cluster.kubectl(['get', 'pods', '--namespace', 'red']);
  const [head = '', ...rows] = table.trim().split('\n');
  const titles = head.split(/ {2,}/);
  return new Map(
    rows.map((row) => {
      const cells = row.split(/ {2,}/);
      return [cells[0] as string, wanted.map((title) => cells[titles.indexOf(title)] as string)];
    }),
  );
}

/** KW-03: the word of what kubectl prints, for pods whose Ready condition has the reason PodCompleted when they succeeded. */
function wordOf(printed: string): string {
  if (printed === 'Running' || printed === 'Completed') return printed;
  if (printed === 'Failed' || printed === 'Error' || printed.startsWith('OutOf')) return 'Error';
  return printed === 'Succeeded' ? 'Completed' : 'Waiting';
}

test('KW-01 KW-02 pods by node, claim and phase', async () => {
  expect(await found('pods?nodeName=node-a')).toEqual(red('running'));
  expect(await found('pods?pvcName=data')).toEqual(red('pending'));
  expect(await found('pods?nodeName=&phase=Pending')).toEqual(red('pending'));
  expect(await found('pods?phase=Failed')).toEqual(red('evicted', 'failed', 'rejected'));
  expect(await found('pods?phase=failed')).toBe(400);
});

test('KW-03 KW-21 the status of pods, and their order by it and by restarts, are what kubectl prints', async () => {
  const printed = await columns('STATUS', 'RESTARTS');
  expect(printed.size).toBe(PODS.length - 1);
  const withWord = (word: string): string[] =>
    red(...[...printed].filter(([, [status = '']]) => wordOf(status) === word).map(([name]) => name)).sort();
  for (const word of ['Waiting', 'Running', 'Error', 'Completed']) {
    expect([word, await found(`pods?status=${word}`)]).toEqual([word, withWord(word)]);
    expect(withWord(word)).not.toEqual([]);
  }
  const by = (column: number, compare: (a: string, b: string) => number): string[] =>
    red(
      ...[...printed]
        .sort(([one, a], [two, b]) => compare(a[column] as string, b[column] as string) || (one < two ? -1 : 1))
        .map(([name]) => name),
    );
  const inOrder = (word: string): Promise<unknown> => names(`namespaces/red/pods?sortBy=${word}&ascending=true`);
  expect(await inOrder('status')).toEqual(by(0, (a, b) => (a < b ? -1 : a > b ? 1 : 0)));
  expect(await inOrder('restarts')).toEqual(by(1, (a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)));
  expect(await found('pods?status=running')).toBe(400);
});

test('KW-04 pods of a Service are those that its selector in their namespace finds, now', async () => {
  expect(await names('pods?serviceName=web&sortBy=name&ascending=true')).toEqual(red('pending', 'running'));
  expect(await names('namespaces/blue/pods?serviceName=web')).toEqual([]);
  for (const none of ['headless', 'nosuch']) expect(await names(`pods?serviceName=${none}`)).toEqual([]);
  const patch = JSON.stringify({ spec: { selector: { app: 'web' } } });
  await cluster.kubectl(['patch', 'service', 'web', '--namespace', 'blue', '--type=merge', '--patch', patch]);
  await eventually(
    () => names('namespaces/blue/pods?serviceName=web'),
    (all) => String(all) === 'blue/running',
  );
});

test('KW-04 KD-13 pods of a Service are those of the namespaces in which the caller may list pods and Services', async () => {
  const place = await gatehouse.signIn('place');
  expect(await names('pods?name=running&sortBy=name&ascending=true', place)).toEqual([
    'blue/running',
    ...red('running'),
  ]);
  expect(await names('pods?serviceName=web&sortBy=name&ascending=true', place)).toEqual(red('pending', 'running'));
  expect(await names('namespaces/blue/pods?serviceName=web', place)).toBe(403);
});

test('KW-05 KW-06 KW-07 KW-08 KW-22 workloads by status and by the part that is ready, deployments by their last update', async () => {
  for (const kind of ['deployments', 'statefulsets', 'daemonsets']) {
    expect(await found(`${kind}?status=running`)).toEqual(red('ready'));
    expect(await found(`${kind}?status=updating`)).toEqual(red('rolling'));
    expect(await found(`${kind}?status=stopped`)).toEqual(red('off'));
    expect(await found(`${kind}?status=Running`)).toBe(400);
    expect(await names(`${kind}?sortBy=ready&ascending=true`)).toEqual(red('rolling', 'off', 'ready'));
  }
  expect(await names('deployments?sortBy=updateTime&limit=1')).toEqual(red('ready'));
});

test('KW-09 KW-10 KW-11 jobs, cronjobs and autoscalers', async () => {
  expect(await found('jobs?status=completed')).toEqual(red('done'));
  expect(await found('jobs?status=failed')).toEqual(red('broken'));
  expect(await found('jobs?status=running')).toEqual(red('going'));
  expect(await names('jobs?sortBy=status&ascending=true')).toEqual(red('done', 'broken', 'going'));
  expect(await found('cronjobs?status=paused')).toEqual(red('paused'));
  expect(await found('cronjobs?status=running')).toEqual(red('never', 'running'));
  expect(await names('cronjobs?sortBy=lastScheduleTime')).toEqual(red('running', 'paused', 'never'));
  expect(await found('horizontalpodautoscalers?targetKind=Deployment&targetName=ready')).toEqual(red('scaler'));
  expect(await found('horizontalpodautoscalers?targetKind=deployment')).toEqual([]);
});

test('KW-12 KW-13 volumes and claims by phase and class', async () => {
  expect(await found('persistentvolumes?status=bound')).toEqual(['fast']);
  expect(await found('persistentvolumes?storageClassName=ssd')).toEqual(['fast']);
  expect(await found('persistentvolumes?storageClassName=')).toEqual([]);
  expect(await found('persistentvolumeclaims?status=PENDING')).toEqual(red('classless', 'open'));
  expect(await found('persistentvolumeclaims?storageClassName=')).toEqual(red('classless'));
  expect(await found('persistentvolumeclaims?status=lost')).toEqual([]);
  expect(await found('persistentvolumeclaims?status=used')).toBe(400);
});

test('KW-14 KW-15 definitions by their Kind, and the roles that are in another', async () => {
  expect(await found('customresourcedefinitions?name=SnapshotCon')).toEqual([`volumesnapshotcontents.${SNAPSHOTS}`]);
  expect(await found('roles?aggregateTo=all')).toEqual(red('part'));
  expect(await names('clusterroles?aggregateTo=test-all')).toEqual(['test-part']);
  expect(await names('clusterroles?aggregateTo=test-part')).toEqual([]);
});

test('KW-16 KW-17 KW-18 snapshots, their classes and contents', async () => {
  expect(await found('volumesnapshots?status=ready&volumeSnapshotClassName=ssd')).toEqual(red('ready'));
  expect(await found('volumesnapshots?status=creating')).toEqual(red('new'));
  expect(await found('volumesnapshots?persistentVolumeClaimName=data')).toEqual(red('ready'));
  expect(await found('volumesnapshotclasses?driver=ssd.example.com&deletionPolicy=Delete')).toEqual(['ssd']);
  expect(await found('volumesnapshotclasses?deletionPolicy=Retain')).toEqual([]);
  const ofReady = 'volumeSnapshotName=ready&volumeSnapshotNamespace=red&volumeSnapshotClassName=ssd';
  expect(await found(`volumesnapshotcontents?${ofReady}&readyToUse=true`)).toEqual(['ready']);
  for (const word of ['false', 'true'])
    expect(await found(`volumesnapshotcontents?name=bare&readyToUse=${word}`)).toEqual([]);
});

test('KD-08 claims tell the console of KubeSphere whether a pod mounts them, and whether there are snapshots of their driver', async () => {
  const provisioner = 'volume.beta.kubernetes.io/storage-provisioner=ssd.example.com';
  await cluster.kubectl(['annotate', 'persistentvolumeclaim', 'data', '--namespace', 'red', provisioner]);
  // The rights of `deploy/` are those of another platform.
  const account = `--serviceaccount=${NAMESPACE}:gatehouse`;
  await cluster.kubectl(['create', 'clusterrolebinding', 'console', '--clusterrole=cluster-admin', account]);
  const clients = [{ name: 'gatehouse', secret: 'gatehouse' }];
  const config = { platform: 'kubesphere', authentication: { oauthOptions: { clients } } };
  const console = await startGatehouse(cluster, { admin: [] }, { config });
  ofConsole = console;
  const path = '/kapis/resources.kubesphere.io/v1alpha3/namespaces/red/persistentvolumeclaims';
  const { status, body } = await console.get(`${path}?sortBy=name&ascending=true`, await console.signIn('admin'));
  const claims = (body as Listed).items.map(({ metadata: { name, annotations = {} } }) => [
    name,
    annotations['kubesphere.io/in-use'],
    annotations['kubesphere.io/allow-snapshot'],
  ]);
  expect([status, claims]).toEqual([
    200,
    [
      ['classless', 'false', 'false'],
      ['data', 'true', 'true'],
      ['open', 'false', 'false'],
    ],
  ]);
});

test('KW-19 a word of one kind is none of another', async () => {
  const { status, body } = await gatehouse.get(`${ROOT}/configmaps?serviceName=web`, token);
  expect([status, (body as Listed).message]).toEqual([400, 'unknown query parameter "serviceName"']);
});
