import { describe, expect, test } from 'vitest';
import type { ApiRequest } from '../../../dev/cluster/request.ts';
import { deploymentObject, type KindsStand, startKinds } from './kinds-stand.ts';

const KIND = { kind: 'deployments' };
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** Lists of all deployments, in either form, and watches that go on. */
const ofAll = ({ path }: ApiRequest): boolean => path === '/apis/apps/v1/deployments';
/** Reads of single objects, which name their namespace. */
const ofOne = ({ path }: ApiRequest): boolean => path.includes('/namespaces/red/deployments');

/** Two thirds of a MiB in each of six deployments would not fit into 2 MiB. */
const LARGE = 'x'.repeat(650_000);

function createLarge(stand: KindsStand, place: 'spec' | 'metadata'): void {
  for (let number = 1; number <= 6; number++) {
    const name = `large-${number}`;
    const metadata = { name, namespace: 'red', ...(place === 'metadata' ? { annotations: { large: LARGE } } : {}) };
    const spec = place === 'spec' ? { large: LARGE } : {};
    stand.cluster.objects.create('deployments', { ...deploymentObject('red', name), metadata, spec });
  }
}

const metric = async (stand: KindsStand, name: string): Promise<string | undefined> =>
  (await stand.service.metrics()).split('\n').find((line) => line.startsWith(name));

const small = { config: { kinds: { memory: '2Mi' } } };

describe('the kinds in memory', () => {
  test('KD-20 a kind that does not fit whole is held by its fields, and the objects of a page are read from the cluster', async () => {
    const stand = await startKinds(['red'], small);
    createLarge(stand, 'spec');
    const page = await stand.ask('deployments?sortBy=name&ascending=true&limit=2&page=2');
    expect(page.body.totalItems).toBe(6);
    expect(page.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([
      'large-3',
      'large-4',
    ]);
    expect(page.body.items[0].spec.large).toHaveLength(LARGE.length);
    expect(stand.requests(ofOne)).toBe(2);
    expect(await metric(stand, 'gatehouse_kinds_held{')).toBe(
      'gatehouse_kinds_held{resource="deployments.apps",way="fields"} 1',
    );
    const refused = await stand.watch('deployments?watch=true');
    expect(refused.status).toBe(503);
    const watch = await stand.watch('deployments?watch=true', 'ada', { accept: METADATA });
    await stand.clock.until(
      () => watch.story,
      ({ length }) => length >= 7,
    );
    expect(watch.story.filter((line) => line.startsWith('ADDED'))).toHaveLength(6);
  });

  test('KD-20 an object that vanished while a page is read is left out of the items, and not of the total', async () => {
    const stand = await startKinds(['red'], small);
    createLarge(stand, 'spec');
    const isOfFirst = ({ path, query }: ApiRequest): boolean =>
      path.endsWith('/large-1') || query.get('fieldSelector') === 'metadata.name=large-1';
    stand.cluster.faults.next({ ...KIND, when: (request) => ofOne(request) && isOfFirst(request) }, { status: 404 });
    const { status, body } = await stand.ask('deployments?sortBy=name&ascending=true&limit=2');
    expect([status, body.totalItems, body.items.length, body.items[0].metadata.name]).toEqual([200, 6, 1, 'large-2']);
  });

  test('KD-21 a kind that does not fit by its fields either is 503 with the name of the setting, and all others are served', async () => {
    const stand = await startKinds(['red'], small);
    createLarge(stand, 'metadata');
    for (let time = 1; time <= 2; time++) {
      const { status, body, headers } = await stand.ask('deployments');
      expect([status, body.message, headers.get('retry-after')]).toEqual([
        503,
        'deployments.apps are not available: they do not fit into kinds.memory',
        '30',
      ]);
    }
    expect(await metric(stand, 'gatehouse_kinds_refused_total{reason="memory"}')).toMatch(/ 1$/);
    expect(await stand.names('pods?sortBy=name')).toHaveLength(2);
    expect(await stand.names('nodes')).toHaveLength(3);
  });

  test('KD-22 a hundred first requests of a kind are one list at the cluster', async () => {
    const stand = await startKinds();
    stand.cluster.objects.create('deployments', deploymentObject('red', 'web'));
    const path = '/kapis/resources.gatehouse.io/v1alpha3/deployments';
    const calls = Array.from({ length: 100 }, () => stand.service.call(path, { token: stand.tokens.ada }));
    const answers = await stand.clock.during(Promise.all(calls));
    expect(answers.filter(({ status, body }) => status === 200 && body.totalItems === 1)).toHaveLength(100);
    expect(stand.requests((request) => ofAll(request) && request.query.get('sendInitialEvents') !== null)).toBe(1);
    expect(stand.cluster.evidence.openWatches('deployments')).toBe(1);
  });

  test('KD-22 a first request is 503 with Retry-After after ten seconds, and the list goes on', async () => {
    const stand = await startKinds();
    const heal = stand.cluster.faults.until(KIND, { connection: 'silence' });
    const before = stand.clock.monotonic();
    const { status, body, headers } = await stand.ask('deployments');
    expect([status, body.message, headers.get('retry-after')]).toEqual([
      503,
      'deployments.apps are not available: first synchronisation has not finished',
      '5',
    ]);
    expect(stand.clock.monotonic() - before).toBeGreaterThanOrEqual(10_000);
    heal();
    await stand.clock.spend(60_000);
    expect(await stand.names('deployments')).toEqual([]);
    expect(await metric(stand, 'gatehouse_kinds_started_total')).toMatch(/ 1$/);
  });

  test('KD-25 a kind that cannot be followed is answered with its age, then 503, and the replica stays ready', async () => {
    const stand = await startKinds(['red'], { config: { kinds: { idle: '60m' } } });
    stand.cluster.objects.create('deployments', deploymentObject('red', 'web'));
    await stand.ask('deployments');
    stand.cluster.faults.until(KIND, { status: 503 });
    await stand.clock.spend(240_000);
    const old = await stand.ask('deployments');
    expect([old.status, old.headers.get('warning')]).toEqual([200, '110 - "Response is Stale"']);
    expect(Number(old.headers.get('age'))).toBeGreaterThan(60);
    await stand.clock.spend(720_000);
    const { status, body } = await stand.ask('deployments');
    expect([status, body.message]).toEqual([
      503,
      expect.stringMatching(/^deployments are not available: data is older than 12m0s/),
    ]);
    expect((await stand.service.call('/readyz')).status).toBe(200);
    expect(await stand.names('pods?sortBy=name')).toHaveLength(2);
  });

  test('KD-18 nothing is asked of the cluster for a kind that nobody asks for, and it is let go when nobody has asked for ten minutes', async () => {
    const stand = await startKinds();
    expect(stand.requests(ofAll)).toBe(0);
    await stand.ask('deployments');
    const watch = await stand.watch('deployments?watch=true');
    await stand.clock.spend(660_000);
    const watches = (): number => stand.cluster.evidence.openWatches('deployments');
    expect(watches()).toBe(1);
    watch.close();
    await stand.clock.spend(660_000);
    await stand.clock.until(watches, (open) => open === 0);
    expect(await metric(stand, 'gatehouse_kinds_stopped_total{reason="idle"}')).toMatch(/ [12]$/);
    expect(await metric(stand, 'gatehouse_kinds_bytes{resource="deployments.apps"}')).toBeUndefined();
  });
});
