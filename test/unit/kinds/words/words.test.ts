import { describe, expect, test } from 'vitest';
import { wordsOf } from '../../../../src/kinds/words/words-of.ts';
import { listing, object } from './worded-kind.ts';

type Listing = ReturnType<typeof listing>;

/** What each query finds. */
const found = ({ keys }: Listing, name: string, words: readonly string[]): Record<string, string> =>
  Object.fromEntries(words.map((word) => [word, keys(`${name}=${word}`)]));

const times = (...conditions: object[]) => ({ status: { conditions } });

describe('the words of workloads', () => {
  const STATES = ['running', 'updating', 'stopped'];

  test('KW-05 status of deployments', () => {
    const list = listing('deployments.apps');
    const deployment = (key: string, replicas?: number, readyReplicas?: number) =>
      object(key, { spec: { replicas: 9 }, status: { replicas, readyReplicas } });
    list.put(deployment('a/run', 3, 3), deployment('a/up', 3, 2), deployment('a/off'), deployment('a/more', 2, 3));
    expect(found(list, 'status', STATES)).toEqual({ running: 'a/run', updating: 'a/up a/more', stopped: 'a/off' });
    expect(list.refusal('status=Running')).toContain('running, updating, stopped');
  });

  test('KW-06 updateTime of deployments and jobs is the latest of creation and conditions', () => {
    for (const name of ['deployments.apps', 'jobs.batch']) {
      const { put, keys } = listing(name);
      put(object('a/made', {}, { creationTimestamp: '2026-01-03T00:00:00Z' }));
      put(object('a/updated', times({ lastUpdateTime: '2026-01-04T00:00:00Z' }, {})));
      put(object('a/moved', times({ lastTransitionTime: '2026-01-05T00:00:00Z' }), { creationTimestamp: null }));
      expect(keys('sortBy=updateTime')).toBe('a/moved a/updated a/made');
      expect(keys('sortBy=startTime')).toBe('a/made a/updated a/moved');
    }
  });

  test('KW-07 status of statefulsets', () => {
    const list = listing('statefulsets.apps');
    const set = (key: string, replicas?: number, readyReplicas?: number) =>
      object(key, { spec: { replicas }, status: { readyReplicas } });
    list.put(set('a/run', 1, 1), set('a/up', 2, 1), set('a/off', 0), set('a/none', undefined, 1));
    expect(found(list, 'status', STATES)).toEqual({ running: 'a/run', updating: 'a/up', stopped: 'a/off a/none' });
  });

  test('KW-08 status of daemonsets', () => {
    const list = listing('daemonsets.apps');
    const set = (key: string, desiredNumberScheduled: number, numberReady: number) =>
      object(key, { status: { desiredNumberScheduled, numberReady } });
    list.put(set('a/run', 2, 2), set('a/up', 2, 0), set('a/off', 0, 0), object('a/new'));
    expect(found(list, 'status', STATES)).toEqual({ running: 'a/run', updating: 'a/up', stopped: 'a/off a/new' });
  });
});

describe('the order `ready` of workloads', () => {
  const replicas = (key: string, wanted?: number, readyReplicas?: number, existing = wanted) =>
    object(key, { spec: { replicas: wanted }, status: { replicas: existing, readyReplicas } });

  test('KW-22 is by the part of the wanted pods that is ready, and all are if none is wanted', () => {
    for (const name of ['deployments.apps', 'statefulsets.apps']) {
      const { put, keys } = listing(name);
      put(replicas('a/half', 10, 5), replicas('a/none', 4), replicas('a/all', 2, 2, 3), replicas('a/off', 0));
      put(replicas('a/two-thirds', 3, 2), replicas('a/empty'));
      const best = 'a/off a/empty a/all';
      expect([name, keys('sortBy=ready')]).toEqual([name, `${best} a/two-thirds a/half a/none`]);
      expect(keys('sortBy=ready&ascending=1&limit=2')).toBe('a/none a/half');
      put(replicas('a/none', 4, 3));
      expect(keys('sortBy=ready&ascending=1&limit=2')).toBe('a/half a/two-thirds');
    }
  });

  test('KW-22 of daemonsets counts what is scheduled', () => {
    const { put, keys } = listing('daemonsets.apps');
    const set = (key: string, desiredNumberScheduled: number, numberReady: number) =>
      object(key, { status: { desiredNumberScheduled, numberReady } });
    put(set('a/one', 12, 11), set('a/two', 12, 12), set('a/six', 12, 0), object('a/new'));
    expect(keys('sortBy=ready')).toBe('a/two a/new a/one a/six');
  });

  test('KW-22 is no word of other kinds', () => {
    for (const name of ['replicasets.apps', 'jobs.batch', 'pods.'])
      expect(listing(name).refusal('sortBy=ready')).toContain('sortBy');
  });
});

describe('the words of jobs', () => {
  test('KW-09 status of jobs is the first true condition', () => {
    const list = listing('jobs.batch');
    const is = (type: string, status = 'True') => ({ type, status });
    list.put(object('a/done', times(is('Suspended'), is('Failed', 'False'), is('Complete'), is('Failed'))));
    list.put(object('a/bad', times(is('Failed'))), object('a/run'));
    expect(found(list, 'status', ['completed', 'failed', 'running'])).toEqual({
      ...{ completed: 'a/done', failed: 'a/bad', running: 'a/run' },
    });
    expect(list.refusal('status=Complete')).toContain('completed, failed, running');
    expect(list.keys('sortBy=status')).toBe('a/run a/bad a/done');
  });

  test('KW-10 status of cronjobs, and lastScheduleTime', () => {
    const list = listing('cronjobs.batch');
    list.put(object('a/on', { spec: { suspend: false }, status: { lastScheduleTime: '2026-01-02T00:00:00Z' } }));
    list.put(object('a/off', { spec: { suspend: true }, status: { lastScheduleTime: '2026-01-03T00:00:00Z' } }));
    list.put(object('a/new', { spec: {} }));
    expect(found(list, 'status', ['paused', 'running'])).toEqual({ paused: 'a/off', running: 'a/on a/new' });
    expect(list.keys('sortBy=lastScheduleTime')).toBe('a/off a/on a/new');
  });

  test('KW-11 targetKind and targetName of autoscalers', () => {
    const { put, keys } = listing('horizontalpodautoscalers.autoscaling');
    const scales = (kind: string, name: string) => ({ spec: { scaleTargetRef: { kind, name } } });
    put(object('a/one', scales('Deployment', 'web')), object('a/two', scales('StatefulSet', 'web')), object('a/odd'));
    expect(keys('targetKind=Deployment')).toBe('a/one');
    expect(keys('targetName=web&sortBy=name')).toBe('a/two a/one');
    expect([keys('targetName=we'), keys('targetKind=')]).toEqual(['', '']);
  });
});

describe('the words of volumes', () => {
  const of = (phase: string, storageClassName?: string) => ({ spec: { storageClassName }, status: { phase } });

  test('KW-12 status in any case and storageClassName of persistentvolumes', () => {
    const { put, keys, refusal } = listing('persistentvolumes.');
    put(object('one', of('Bound', 'fast')), object('two', of('Available', '')), object('six', of('Failed')));
    expect([keys('status=Bound'), keys('status=bound'), keys('status=FAILED')]).toEqual(['one', 'one', 'six']);
    expect(refusal('status=Lost')).toContain('Pending, Available, Bound, Released, Failed');
    expect([keys('storageClassName=fast'), keys('storageClassName=')]).toEqual(['one', '']);
  });

  test('KW-13 status in any case and storageClassName of persistentvolumeclaims', () => {
    const { put, keys, refusal } = listing('persistentvolumeclaims.');
    put(object('a/one', of('Bound', 'fast')), object('a/two', of('Lost', '')), object('a/six', of('Pending')));
    expect([keys('status=bound'), keys('status=lost'), keys('status=pending')]).toEqual(['a/one', 'a/two', 'a/six']);
    expect(refusal('status=Available')).toContain('Pending, Bound, Lost');
    expect([keys('storageClassName=fast'), keys('storageClassName=')]).toEqual(['a/one', 'a/two']);
  });
});

test('KW-14 name of customresourcedefinitions also finds the Kind', () => {
  const { put, keys } = listing('customresourcedefinitions.apiextensions.k8s.io');
  put(object('widgets.example.test', { spec: { names: { kind: 'Gadget' } } }), object('things.example.test'));
  expect([keys('name=dget'), keys('name=Gad'), keys('name=gad')]).toEqual([
    ...['widgets.example.test', 'widgets.example.test', ''],
  ]);
});

describe('KW-15 aggregateTo', () => {
  const annotations = (text: string) => ({ 'iam.gatehouse.io/aggregation-roles': text });

  test.each([
    ['roles.rbac.authorization.k8s.io', 'a/'],
    ['clusterroles.rbac.authorization.k8s.io', ''],
  ])('of %s finds the roles that the annotation names, with every other filter', (name, at) => {
    const list: Listing = listing(name, {
      annotationsOf: (namespace, role) => list.store.get(namespace === '' ? role : `${namespace}/${role}`)?.annotations,
    });
    const named = { annotations: annotations('["view","edit","gone"]') };
    list.put(object(`${at}admin`, {}, named), object(`${at}view`), object(`${at}edit`), object(`${at}other`));
    list.put(object(`${at}odd`, {}, { annotations: annotations('view') }));
    list.put(object(`${at}list`, {}, { annotations: annotations('{"view":1}') }));
    expect(list.keys('aggregateTo=admin')).toBe(`${at}view ${at}edit`);
    expect(list.keys('aggregateTo=admin&name=vi')).toBe(`${at}view`);
    const none = ['odd', 'list', 'view', 'none', ''].map((role) => list.keys(`aggregateTo=${role}`));
    expect(none).toEqual(['', '', '', '', '']);
  });

  test('of a role of another namespace does not count', () => {
    const list: Listing = listing('roles.rbac.authorization.k8s.io', {
      annotationsOf: (namespace, role) => list.store.get(`${namespace}/${role}`)?.annotations,
    });
    list.put(object('a/admin', {}, { annotations: annotations('["view"]') }), object('a/view'), object('b/view'));
    expect(list.keys('aggregateTo=admin')).toBe('a/view');
  });

  test('KW-20 is kept by a watch as it was at its start', () => {
    const annotated: { text?: string } = { text: '["view"]' };
    const { put, watch } = listing('clusterroles.rbac.authorization.k8s.io', {
      annotationsOf: () => annotations(annotated.text ?? ''),
    });
    put(object('view'));
    const events = watch('aggregateTo=admin');
    expect(events()).toEqual(['ADDED view']);
    annotated.text = '["edit"]';
    put(object('view'), object('edit'));
    expect(events()).toEqual(['MODIFIED view']);
  });
});

describe('the words of snapshots', () => {
  test('KW-16 of volumesnapshots', () => {
    const list = listing('volumesnapshots.snapshot.storage.k8s.io');
    const of = (volumeSnapshotClassName: string, persistentVolumeClaimName: string) => ({
      spec: { volumeSnapshotClassName, source: { persistentVolumeClaimName } },
    });
    list.put(object('a/new', of('fast', 'data')), object('a/odd'));
    list.put(object('a/done', { ...of('slow', 'logs'), status: { readyToUse: true } }));
    const deleted = { deletionTimestamp: '2026-01-02T00:00:00Z' };
    list.put(object('a/going', { status: { readyToUse: true } }, deleted));
    expect(found(list, 'status', ['creating', 'ready', 'deleting'])).toEqual({
      ...{ creating: 'a/odd a/new', ready: 'a/done', deleting: 'a/going' },
    });
    expect(list.refusal('status=Ready')).toContain('creating, ready, deleting');
    expect([list.keys('volumeSnapshotClassName=fast'), list.keys('volumeSnapshotClassName=')]).toEqual(['a/new', '']);
    expect(list.keys('persistentVolumeClaimName=logs')).toBe('a/done');
  });

  test('KW-17 of volumesnapshotclasses', () => {
    const list = listing('volumesnapshotclasses.snapshot.storage.k8s.io');
    list.put(object('keep', { deletionPolicy: 'Retain', driver: 'csi.example.test' }));
    list.put(object('drop', { deletionPolicy: 'Delete', driver: 'other.example.test' }));
    expect(found(list, 'deletionPolicy', ['Retain', 'Delete'])).toEqual({ Retain: 'keep', Delete: 'drop' });
    expect(list.refusal('deletionPolicy=retain')).toContain('Delete, Retain');
    expect([list.keys('driver=csi.example.test'), list.keys('driver=csi')]).toEqual(['keep', '']);
  });

  test('KW-18 of volumesnapshotcontents, also of one without status or class', () => {
    const list = listing('volumesnapshotcontents.snapshot.storage.k8s.io');
    const volumeSnapshotRef = { name: 'snap', namespace: 'a' };
    const spec = { volumeSnapshotClassName: 'fast', volumeSnapshotRef };
    list.put(object('ready', { spec, status: { readyToUse: true } }), object('bare', { spec: {} }));
    list.put(object('waits', { spec: { volumeSnapshotRef }, status: { readyToUse: false } }));
    expect(found(list, 'readyToUse', ['true', 'false'])).toEqual({ true: 'ready', false: 'waits' });
    expect(list.refusal('readyToUse=yes')).toContain('true, false');
    expect([list.keys('volumeSnapshotClassName=fast'), list.keys('volumeSnapshotClassName=')]).toEqual(['ready', '']);
    expect(list.keys('volumeSnapshotName=snap')).toBe('waits ready');
    expect([list.keys('volumeSnapshotNamespace=a'), list.keys('volumeSnapshotNamespace=b')]).toEqual([
      'waits ready',
      '',
    ]);
  });
});

describe('KW-19 every other kind', () => {
  test('has the words of all lists, and no other', () => {
    const { put, keys, refusal } = listing('configmaps.');
    put(object('a/one', {}, { labels: { tier: 'x' } }), object('b/two'));
    expect([keys('labelSelector=tier'), keys('name=tw'), keys('sortBy=updateTime')]).toEqual([
      'a/one',
      'b/two',
      'b/two a/one',
    ]);
    expect(refusal('status=running')).toContain('unknown query parameter "status"');
    expect(refusal('sortBy=status')).toContain('name, createTime, creationTimestamp, startTime, updateTime');
  });

  test('of the same plural in another group has none of the words', () => {
    const context = { platform: 'gatehouse', selectorOf: () => undefined, annotationsOf: () => undefined };
    expect(wordsOf({ group: 'metrics.k8s.io', resource: 'pods' }, context).filters.size).toBe(0);
    expect(wordsOf({ group: '', resource: 'pods' }, context).filters.size).toBe(5);
  });
});

test('KW-20 a watch of each kind whose filters read more than the status tells what no longer matches', () => {
  const cases = [
    [
      'horizontalpodautoscalers.autoscaling',
      'targetName=x',
      (x: string) => ({ spec: { scaleTargetRef: { name: x } } }),
    ],
    ['persistentvolumes.', 'storageClassName=x', (x: string) => ({ spec: { storageClassName: x } })],
    ['persistentvolumeclaims.', 'storageClassName=x', (x: string) => ({ spec: { storageClassName: x } })],
    ['customresourcedefinitions.apiextensions.k8s.io', 'name=x', (x: string) => ({ spec: { names: { kind: x } } })],
    [
      'volumesnapshots.snapshot.storage.k8s.io',
      'persistentVolumeClaimName=x',
      (x: string) => ({ spec: { source: { persistentVolumeClaimName: x } } }),
    ],
    ['volumesnapshotclasses.snapshot.storage.k8s.io', 'driver=x', (x: string) => ({ driver: x })],
    [
      'volumesnapshotcontents.snapshot.storage.k8s.io',
      'volumeSnapshotName=x',
      (x: string) => ({ spec: { volumeSnapshotRef: { name: x } } }),
    ],
  ] as const;
  for (const [name, query, of] of cases) {
    const { put, watch } = listing(name);
    const key = name.startsWith('persistentvolumes') || /definitions|classes|contents/.test(name) ? 'one' : 'a/one';
    put(object(key, of('x')));
    const events = watch(query);
    events();
    put(object(key, of('y')));
    expect([name, events()]).toEqual([name, [`DELETED ${key}`]]);
  }
});
