import { expect, test } from 'vitest';
import type { GatehouseOptions } from '../../support/gatehouse.ts';
import { Watcher } from '../../support/watcher.ts';
import { type Answer, CONFIDENTIAL } from '../service/stand.ts';
import { type KindsStand, podObject, startKinds } from './kinds-stand.ts';

const SNAPSHOTS = 'snapshot.storage.k8s.io';
const PROVISIONER = 'volume.beta.kubernetes.io/storage-provisioner';
const OF_CONSOLE = { platform: 'kubesphere', authentication: CONFIDENTIAL };
const ROOT = '/kapis/resources.kubesphere.io/v1alpha3';
const CLAIMS = 'namespaces/red/persistentvolumeclaims';

const claimObject = (name: string, annotations: Readonly<Record<string, string>> = {}) => ({
  ...{ kind: 'PersistentVolumeClaim', apiVersion: 'v1', metadata: { namespace: 'red', name, annotations } },
  spec: { accessModes: ['ReadWriteOnce'] },
  status: { phase: 'Bound' },
});

const classes = {
  metadata: { name: `volumesnapshotclasses.${SNAPSHOTS}` },
  spec: {
    ...{ group: SNAPSHOTS, scope: 'Cluster' },
    names: { plural: 'volumesnapshotclasses', kind: 'VolumeSnapshotClass' },
    versions: [{ name: 'v1', served: true, storage: true }],
  },
};

const mounting = (claimName: string) => ({
  spec: { containers: [], volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] },
  status: { phase: 'Succeeded' },
});

/** Two claims in `red`; a finished pod mounts the second one. */
async function startClaims(config: object = {}): Promise<KindsStand> {
  const change: Partial<GatehouseOptions> = { config: { ...OF_CONSOLE, ...config } };
  const stand = await startKinds(['red', 'blue'], change);
  const { objects } = stand.cluster;
  const others = { note: 'kept', [PROVISIONER]: 'disk.example.com' };
  objects.create('persistentvolumeclaims', claimObject('free', others));
  objects.create('persistentvolumeclaims', claimObject('used', { 'kubesphere.io/in-use': 'stored' }));
  objects.create('pods', podObject('red', 'mounts-1', mounting('used')));
  // A namesake, which is another claim.
  objects.create('pods', podObject('blue', 'mounts-1', mounting('free')));
  return stand;
}

const call = (
  stand: KindsStand,
  path: string,
  person: 'ada' | 'joe' = 'ada',
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> =>
  stand.clock.during(stand.service.call(`${ROOT}/${path}`, { token: stand.tokens[person], headers }));

/** The annotations of each claim by its name. */
const annotations = ({ body }: Answer): unknown =>
  Object.fromEntries(
    body.items.map(({ metadata }: { metadata: { name: string; annotations?: object } }) => [
      metadata.name,
      metadata.annotations,
    ]),
  );

test('KD-08 claims tell whether a pod of their namespace mounts them, and whether there are snapshots of their driver', async () => {
  const stand = await startClaims();
  const list = () => call(stand, CLAIMS);
  const own = { note: 'kept', [PROVISIONER]: 'disk.example.com' };
  const first = await list();
  expect(annotations(first)).toEqual({
    free: { ...own, 'kubesphere.io/in-use': 'false', 'kubesphere.io/allow-snapshot': 'false' },
    used: { 'kubesphere.io/in-use': 'true', 'kubesphere.io/allow-snapshot': 'false' },
  });
  const alone = await call(stand, `${CLAIMS}/used`);
  expect(alone.body.metadata.annotations).toEqual({
    'kubesphere.io/in-use': 'true',
    'kubesphere.io/allow-snapshot': 'false',
  });
  const { objects } = stand.cluster;
  objects.remove('pods', 'red/mounts-1');
  objects.create('customresourcedefinitions', classes);
  const made = { kind: 'VolumeSnapshotClass', apiVersion: `${SNAPSHOTS}/v1`, metadata: { name: 'disk' } };
  await stand.clock.until(
    () => call(stand, 'volumesnapshotclasses'),
    ({ status }) => status === 200,
  );
  objects.create(`volumesnapshotclasses.${SNAPSHOTS}`, {
    ...made,
    driver: 'disk.example.com',
    deletionPolicy: 'Delete',
  });
  const changed = await stand.clock.until(list, ({ text }) => text.includes('"kubesphere.io/allow-snapshot":"true"'));
  expect(annotations(changed)).toEqual({
    free: { ...own, 'kubesphere.io/in-use': 'false', 'kubesphere.io/allow-snapshot': 'true' },
    used: { 'kubesphere.io/in-use': 'false', 'kubesphere.io/allow-snapshot': 'false' },
  });
});

test('KD-08 a list of claims is a 304 until an annotation changes, and never for a caller who sees other namespaces', async () => {
  const stand = await startClaims();
  stand.allow('red', { resource: 'persistentvolumeclaims' });
  const path = 'persistentvolumeclaims?sortBy=name&limit=1';
  const etag = (await call(stand, path)).headers.get('etag') ?? '';
  const statusOf = async (person: 'ada' | 'joe'): Promise<number> =>
    (await call(stand, path, person, { 'if-none-match': etag })).status;
  expect([await statusOf('ada'), await statusOf('joe')]).toEqual([304, 200]);
  const body = (await call(stand, path, 'joe')).body;
  expect([body.totalItems, body.items[0].metadata.name]).toEqual([2, 'used']);
  stand.cluster.objects.remove('pods', 'red/mounts-1');
  await stand.clock.until(
    () => statusOf('ada'),
    (status) => status === 200,
  );
});

test('KD-08 what cannot be had in memory is left out, and the claims are listed all the same', async () => {
  const stand = await startClaims({ kinds: { memory: '1Mi' } });
  const metadata = { name: 'large-1', namespace: 'red', annotations: { large: 'x'.repeat(1_200_000) } };
  stand.cluster.objects.create('pods', podObject('red', 'large-1', { metadata }));
  const answer = await call(stand, CLAIMS);
  expect([answer.status, answer.body.totalItems]).toEqual([200, 2]);
  expect(annotations(answer)).toMatchObject({ used: { 'kubesphere.io/allow-snapshot': 'false' } });
  expect(answer.text).not.toContain('kubesphere.io/in-use');
});

test('KD-08 watches, and claims of other platforms, have the annotations of the cluster alone', async () => {
  const stand = await startClaims();
  const { origin } = stand.service.gatehouse;
  const headers = { authorization: `Bearer ${stand.tokens.ada}` };
  const watch = await stand.clock.during(Watcher.open(`${origin}${ROOT}/${CLAIMS}?watch=true`, headers));
  await stand.clock.until(
    () => watch.story.filter((line) => line.startsWith('ADDED')).length,
    (count) => count === 2,
  );
  expect(watch.text).not.toContain('kubesphere.io/');
  const other = await startKinds(['red']);
  other.cluster.objects.create('persistentvolumeclaims', claimObject('plain'));
  const { body } = await other.ask(CLAIMS);
  expect(body.items[0].metadata.annotations).toEqual({});
  expect(await other.service.metric('gatehouse_kinds_started_total')).toBe(1);
});
