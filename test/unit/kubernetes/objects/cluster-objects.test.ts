import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type SimulatedCluster, startSimulatedCluster } from '../../../../dev/cluster/cluster.ts';
import { type ApiClient, ClusterError } from '../../../../src/kubernetes/client/api-client.ts';
import { type Cluster, connectCluster } from '../../../../src/kubernetes/cluster.ts';
import type { ClusterObjects } from '../../../../src/kubernetes/objects/cluster-objects.ts';
import { HttpClusterObjects } from '../../../../src/kubernetes/objects/http-cluster-objects.ts';
import { type Clock, systemClock } from '../../../../src/runtime/clock.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const GROUP = 'iam.gatehouse.io';
const USERS = { group: GROUP, version: 'v1alpha2', resource: 'users', kind: 'User' };
const random = { bytes: (length: number) => Buffer.alloc(length), fraction: () => 0 };

interface Stand {
  readonly registry: Registry;
  readonly server: SimulatedCluster;
  readonly cluster: Cluster;
  readonly users: ClusterObjects;
}

async function start(clock: Clock = systemClock): Promise<Stand> {
  const server = await startSimulatedCluster();
  onTestFinished(() => server.stop());
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-objects-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const kubeconfig = join(folder, 'config');
  await writeFile(kubeconfig, server.kubeconfig());
  const logger = pino({ level: 'silent' });
  const registry = new Registry();
  const cluster = await connectCluster({ kubeconfig }, { clock, random, logger, registry });
  onTestFinished(() => cluster.close());
  return { registry, server, cluster, users: cluster.objects(USERS) };
}

const lastRequest = ({ server }: Stand) => server.evidence.requests.at(-1)!;
const failureOf = (promise: Promise<unknown>): Promise<ClusterError> =>
  promise.then(
    () => expect.fail('it was not refused'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(ClusterError);
      return error as ClusterError;
    },
  );

describe('an object of the cluster', () => {
  test('is created with its type, read, replaced at its version, and removed', async () => {
    const { users } = await start();
    const made = await users.create({ metadata: { name: 'ada' }, spec: { email: 'a@example.com' } });
    expect(made).toMatchObject({ kind: 'User', apiVersion: `${GROUP}/v1alpha2`, metadata: { name: 'ada' } });
    expect(await users.get('ada')).toEqual(made);
    const replaced = await users.replace({ ...made, spec: { email: 'b@example.com' } });
    expect(replaced['spec']).toEqual({ email: 'b@example.com' });
    expect((await failureOf(users.replace(made))).status).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(await users.remove('ada')).toBe('removed');
    expect(await users.get('ada')).toBeUndefined();
    expect(await users.remove('ada')).toBe('absent');
  });

  test('is sent with its type, which one from a list of built-in objects does not have', async () => {
    const stand = await start();
    const { users } = stand;
    const sent = (): unknown => JSON.parse(lastRequest(stand).body.toString());
    const type = { kind: 'User', apiVersion: `${GROUP}/v1alpha2` };
    await users.create({ metadata: { name: 'ada' } });
    expect(sent()).toMatchObject(type);
    const [listed] = await users.list('');
    const { kind: _kind, apiVersion: _version, ...untyped } = listed!;
    await users.replace(untyped);
    expect(sent()).toMatchObject(type);
  });

  test('is changed by a merge patch, its status by one of its own', async () => {
    const stand = await start();
    const { users } = stand;
    const { metadata } = await users.create({ metadata: { name: 'ada' }, spec: { lang: 'en', email: '' } });
    const patched = await users.patch('ada', { spec: { lang: null }, status: { state: 'Active' } });
    expect(patched['spec']).toEqual({ email: '' });
    expect(patched['status']).toBeUndefined();
    expect(lastRequest(stand).headers['content-type']).toBe('application/merge-patch+json');
    const status = { status: { state: 'Active' } };
    expect((await users.patch('ada', status, { subresource: 'status' }))['status']).toEqual({ state: 'Active' });
    const { resourceVersion } = metadata;
    const stale = users.patch('ada', { metadata: { resourceVersion }, ...status }, { subresource: 'status' });
    expect((await failureOf(stale)).status.code).toBe(409);
    expect((await failureOf(users.patch('bob', {}))).status.code).toBe(404);
  });

  test('is removed only in the state that the preconditions name', async () => {
    const { users } = await start();
    const { uid, resourceVersion } = (await users.create({ metadata: { name: 'ada' } })).metadata;
    expect((await failureOf(users.remove('ada', { uid: 'other' }))).status.code).toBe(409);
    expect((await failureOf(users.remove('ada', { resourceVersion: '1' }))).status.code).toBe(409);
    expect(await users.remove('ada', { uid, resourceVersion })).toBe('removed');
  });

  test('with a finalizer stays until that is gone', async () => {
    const { users } = await start();
    await users.create({ metadata: { name: 'ada', finalizers: ['f.example.com/x'] } });
    expect(await users.remove('ada')).toBe('removed');
    expect((await users.get('ada'))?.metadata['deletionTimestamp']).toMatch(/^20/);
    await users.patch('ada', { metadata: { finalizers: null } });
    expect(await users.get('ada')).toBeUndefined();
  });

  test('is checked and not stored by a dry run', async () => {
    const stand = await start();
    const { users, server } = stand;
    const dryRun = true;
    expect((await users.create({ metadata: { name: 'ada' } }, { dryRun })).metadata.name).toBe('ada');
    expect(await users.get('ada')).toBeUndefined();
    const made = await users.create({ metadata: { name: 'ada' } });
    const before = server.objects.resourceVersion;
    expect((await failureOf(users.create({ metadata: { name: 'ada' } }, { dryRun }))).status.code).toBe(409);
    expect((await users.replace({ ...made, spec: { lang: 'en' } }, { dryRun }))['spec']).toEqual({ lang: 'en' });
    expect((await users.patch('ada', { spec: { lang: 'de' } }, { dryRun }))['spec']).toEqual({ lang: 'de' });
    expect(await users.remove('ada', {}, { dryRun })).toBe('removed');
    expect(await users.remove('bob', {}, { dryRun })).toBe('absent');
    expect(server.objects.resourceVersion).toBe(before);
  });

  test('is counted with a purpose of its own when a dry run of it is refused, because that is no lost write', async () => {
    const { registry, users, server } = await start();
    server.faults.until({ verb: 'patch' }, { status: 403 });
    await failureOf(users.patch('ada', {}, { dryRun: true }));
    await failureOf(users.patch('ada', {}));
    const counted = (await registry.getSingleMetric('gatehouse_cluster_requests_total')!.get()).values;
    const refused = counted.filter(({ labels, value }) => labels['code'] === '403' && value > 0);
    const byPurpose = Object.fromEntries(refused.map(({ labels, value }) => [labels['purpose'], value]));
    expect(byPurpose).toEqual({ objects: 1, objects_dry_run: 1 });
  });

  test.each(['', '.', '..'])('is never the whole collection: the name "%s" is refused', async (name) => {
    const { users, server } = await start();
    const before = server.evidence.requests.length;
    await expect(users.get(name)).rejects.toThrow(`"${name}" names no object`);
    await expect(users.remove(name)).rejects.toThrow(`"${name}" names no object`);
    expect(server.evidence.requests.length).toBe(before);
  });

  test('has its name encoded in the path', async () => {
    const stand = await start();
    expect(await stand.users.get('a/status')).toBeUndefined();
    expect(lastRequest(stand).url).toBe(`/apis/${GROUP}/v1alpha2/users/a%2Fstatus`);
  });

  test('of a kind that the cluster does not serve is an error, not absent', async () => {
    const { cluster } = await start();
    const strangers = cluster.objects({ ...USERS, group: 'iam.stranger.io' });
    expect((await failureOf(strangers.get('ada'))).status.code).toBe(404);
    expect((await failureOf(strangers.remove('ada'))).status.code).toBe(404);
  });

  test('of a namespace or of the core group is found there', async () => {
    const stand = await start();
    const secrets = { group: '', version: 'v1', resource: 'secrets', kind: 'Secret', namespace: 'default' };
    await stand.cluster.objects(secrets).get('keys');
    expect(lastRequest(stand).url).toBe('/api/v1/namespaces/default/secrets/keys');
  });
});

const LIST = `/apis/${GROUP}/v1alpha2/users?labelSelector=&limit=500`;

const page = (name: string, token: string) => ({
  status: 200,
  body: { metadata: { continue: token }, items: [{ metadata: { name, uid: name, resourceVersion: '1' } }] },
});

/** Users of an API server that answers these one after the other. */
function scripted(answers: { readonly status: number; readonly body: object }[]) {
  const paths: string[] = [];
  const client: Pick<ApiClient, 'json'> = {
    json({ path }) {
      paths.push(path);
      const { status, body } = answers.shift()!;
      return Promise.resolve({ status, headers: {}, body, bytes: 0 });
    },
  };
  const closed = new AbortController().signal;
  return { users: new HttpClusterObjects(USERS, { client, clock: new FakeClock(), closed }), paths };
}

describe("a list of the cluster's objects", () => {
  test('has those that the selector selects', async () => {
    const { users } = await start();
    await users.create({ metadata: { name: 'ada', labels: { of: 'us' } } });
    await users.create({ metadata: { name: 'bob', labels: { of: 'them' } } });
    expect((await users.list('of=us')).map(({ metadata }) => metadata.name)).toEqual(['ada']);
  });

  test('A-54 has every write that was answered before, unless it may be old', async () => {
    const { server, users } = await start();
    await users.create({ metadata: { name: 'ada' } });
    server.holdWatchCache();
    await users.create({ metadata: { name: 'bob' } });
    await users.remove('ada');
    const names = async (options?: { mayBeOld: boolean }) =>
      (await users.list('', options)).map(({ metadata }) => metadata.name);
    expect([await names(), await names({ mayBeOld: false })]).toEqual([['bob'], ['bob']]);
    expect(await names({ mayBeOld: true })).toEqual(['ada']);
  });

  test('is read page by page where the server divides it', async () => {
    const { users, paths } = scripted([page('ada', 'token'), page('bob', '')]);
    expect((await users.list('')).map(({ metadata }) => metadata.name)).toEqual(['ada', 'bob']);
    expect(paths).toEqual([LIST, `${LIST}&continue=token`]);
  });

  test('that may be old is asked for at version 0', async () => {
    const { users, paths } = scripted([page('ada', '')]);
    await users.list('', { mayBeOld: true });
    expect(paths).toEqual([`${LIST}&resourceVersion=0`]);
  });

  test('begins again, once, when its next page has expired', async () => {
    const expired = { status: 410, body: { kind: 'Status', code: 410, reason: 'Expired' } };
    const once = scripted([page('ada', 'token'), expired, page('bob', '')]);
    expect((await once.users.list('')).map(({ metadata }) => metadata.name)).toEqual(['bob']);
    const twice = scripted([page('ada', 'token'), expired, page('ada', 'token'), expired]);
    expect((await failureOf(twice.users.list(''))).status.code).toBe(410);
    expect(twice.paths).toHaveLength(4);
  });

  test('of a kind that the cluster does not serve is an error', async () => {
    const { cluster } = await start();
    const strangers = cluster.objects({ ...USERS, group: 'iam.stranger.io' });
    expect((await failureOf(strangers.list(''))).status.code).toBe(404);
  });
});

describe('an object of the cluster, as somebody else', () => {
  test('is written with his name and each of his groups in a header of its own', async () => {
    const stand = await start();
    const as = { name: 'ada', groups: ['Domain Admins', 'Entwickler-S\u00fcd', 'system:authenticated'] };
    await failureOf(stand.users.create({ metadata: { name: 'bob' } }, { as }));
    const { rawHeaders } = lastRequest(stand);
    const sent = rawHeaders.flatMap((name, index) =>
      index % 2 === 0 && /^impersonate/i.test(name)
        ? [[name.toLowerCase(), Buffer.from(rawHeaders[index + 1] ?? '', 'latin1').toString()]]
        : [],
    );
    expect(sent).toEqual([
      ['impersonate-user', 'ada'],
      ['impersonate-group', 'Domain Admins'],
      ['impersonate-group', 'Entwickler-S\u00fcd'],
      ['impersonate-group', 'system:authenticated'],
    ]);
  });

  test.each([
    { name: '', groups: [] },
    { name: ' ada', groups: [] },
    { name: 'ad\ud800', groups: [] },
    { name: 'ada', groups: ['Domain Admins '] },
    { name: 'ada\r\nimpersonate-group: system:masters', groups: [] },
    { name: 'ada', groups: ['x', ''] },
    { name: 'ada', groups: ['a\nb'] },
    { name: 'ada', groups: ['system:masters'] },
  ])('is not asked for with a name that no header carries, nor as one who may do everything: %j', async (as) => {
    const { users, server } = await start();
    const before = server.evidence.requests.length;
    await expect(users.create({ metadata: { name: 'bob' } }, { as })).rejects.toThrow(/impersonated/);
    expect(server.evidence.requests.length).toBe(before);
  });

  test('is refused because he may not, or because we may not act as him', async () => {
    const stand = await start();
    const as = { name: 'ada', groups: [] };
    const his = await failureOf(stand.users.create({ metadata: { name: 'bob' } }, { as }));
    expect(his.status).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: expect.stringContaining('User "ada"'),
    });
    expect(his.isOfImpersonation).toBe(false);
    stand.server.tokens.set(stand.server.adminToken, { username: 'gatehouse', groups: [] });
    const ours = await failureOf(stand.users.create({ metadata: { name: 'bob' } }, { as }));
    expect(ours.status).toMatchObject({ code: 403, message: expect.stringContaining('User "gatehouse"') });
    expect(ours.isOfImpersonation).toBe(true);
    expect((await failureOf(stand.users.get('bob'))).isOfImpersonation).toBe(false);
  });
});

describe('a cluster that does not answer', () => {
  test('is given up after 10 s', async () => {
    const clock = new FakeClock();
    const { users, server } = await start(clock);
    server.faults.next({ verb: 'get', kind: 'users' }, { connection: 'silence' });
    const failed = expect(users.get('ada')).rejects.toThrow('aborted');
    await server.evidence.until(() => server.evidence.count('get', 'users') === 1);
    await clock.advance(9_999);
    expect(server.evidence.openConnections).toBe(1);
    await clock.advance(1);
    await failed;
  });
});
