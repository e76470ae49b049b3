import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { passwordLabels, passwordSecretName } from '../../../src/accounts/passwords/password-secrets.ts';
import { hashOf } from '../../support/passwords.ts';
import { startDrivenReady } from '../service/driven.ts';
import { eventually, NODES, type Pair, type Service, startCluster, startService } from '../service/stand.ts';
import { keptBinding, type MadeUser, record, user } from './read-stand.ts';

const IAM = '/kapis/iam.gatehouse.io/v1alpha2';
const PASSWORD = 'Made-up-1';
const OURS = 'finalizers.gatehouse.io/users';
const SHARED = { accounts: { enabled: true }, sessions: { store: 'kubernetes' } };
const SECRET = passwordSecretName('gatehouse-password-', 'mia');

/** Mia as an object, with the Secret of her password. */
async function makeMia({ objects }: SimulatedCluster, made: MadeUser = {}, password = PASSWORD): Promise<void> {
  const { metadata } = objects.create('users', user('mia', { metadata: { finalizers: [OURS] }, ...made }));
  const data = { user: 'mia', uid: metadata.uid, hash: await hashOf(password), format: '1' };
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')]);
  objects.create('secrets', {
    metadata: { name: SECRET, namespace: 'default', labels: passwordLabels('gatehouse') },
    data: Object.fromEntries(encoded),
  });
}

async function signIn(service: Service, username = 'mia', password = PASSWORD): Promise<Pair> {
  const { status, text, body } = await service.signInAnswer(username, password);
  if (status !== 200) throw new Error(`${username}: ${status} ${text}`);
  return body as Pair;
}

/** As kubectl does. */
async function deleteUser({ url, adminToken }: SimulatedCluster, name: string): Promise<void> {
  const headers = { authorization: `Bearer ${adminToken}` };
  await fetch(`${url}/apis/iam.gatehouse.io/v1alpha2/users/${name}`, { method: 'DELETE', headers });
}

const deleteMia = (cluster: SimulatedCluster): Promise<void> => deleteUser(cluster, 'mia');

const claimsOf = ({ access_token: text }: Pair): Record<string, unknown> =>
  JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString());

/** 403: a good token of somebody without rights. */
const statusWith = async (service: Service, { access_token: token }: Pair): Promise<number> =>
  (await service.list(token)).status;

describe('a User object with a password', () => {
  test('signs in by name and by e-mail, with claims of its own', async () => {
    const cluster = await startCluster();
    await makeMia(cluster, { annotations: { 'iam.gatehouse.io/uninitialized': 'true' }, spec: { groups: ['ops'] } });
    const service = await startService(cluster, { config: SHARED });
    const claims = claimsOf(await signIn(service));
    expect(claims).toMatchObject({ sub: 'mia', groups: ['ops'], extra: { uninitialized: ['true'] } });
    expect(claims).not.toHaveProperty('pwd');
    expect(claimsOf(await signIn(service, 'mia@example.com'))['sub']).toBe('mia');
    // Nobody else has it in another case.
    expect(claimsOf(await signIn(service, 'Mia@example.com'))['sub']).toBe('mia');
  });

  test('signs in with AlwaysAllow, too', async () => {
    const cluster = await startCluster();
    await makeMia(cluster);
    const service = await startService(cluster, { config: { ...SHARED, authorization: { mode: 'AlwaysAllow' } } });
    expect(await statusWith(service, await signIn(service))).toBe(200);
  });

  test('stays signed in over the rollout that moves the password from the object into a Secret', async () => {
    const cluster = await startCluster();
    const { objects } = cluster;
    objects.create('users', user('mia', { spec: { password: await hashOf(PASSWORD) } }));
    const before = { ...SHARED, accounts: { enabled: true, passwordStore: 'userObject' } };
    const { clock, service: former } = await startDrivenReady(cluster, { config: before });
    const pair = await clock.during(signIn(former));
    const { service: later } = await startDrivenReady(cluster, { config: SHARED }, clock);
    const stored = () => objects.get('users', 'mia');
    await clock.until(stored, (mia) => mia !== undefined && !JSON.stringify(mia['spec']).includes('password'));
    await clock.until(
      async () => (await former.call(`${IAM}/users/mia`, { token: pair.access_token })).body,
      ({ metadata, code }) => code === 401 || metadata.resourceVersion === stored()?.metadata.resourceVersion,
    );
    await clock.spend(10_000); // the end of sessions is written a moment later
    for (const service of [former, later]) {
      expect(await clock.during(statusWith(service, pair))).toBe(403);
      await clock.during(signIn(service));
    }
  });

  test('made while Gatehouse runs signs in within a second', async () => {
    const cluster = await startCluster();
    const service = await startService(cluster, { config: SHARED });
    await makeMia(cluster);
    await eventually(
      () => service.signInAnswer('mia', PASSWORD),
      ({ status }) => status === 200,
    );
  });

  test('AC-50 loses its tokens and all that belongs to it when it is deleted with another tool', async () => {
    const cluster = await startCluster();
    const { objects } = cluster;
    await makeMia(cluster);
    objects.create('clusterroles', { metadata: { name: 'r' }, rules: [] });
    objects.create('clusterrolebindings', keptBinding('mia', 'r'));
    objects.create('loginrecords', record('mia-1', 'mia', '2026-03-02T08:15:30Z'));
    objects.create('loginrecords', record('bob-1', 'bob', '2026-03-02T08:15:30Z'));
    const one = await startService(cluster, { config: SHARED });
    const two = await startService(cluster, { config: SHARED });
    const pair = await signIn(one);
    expect([await statusWith(one, pair), await statusWith(two, pair)]).toEqual([403, 403]);
    await deleteMia(cluster);
    for (const service of [one, two])
      await eventually(
        () => statusWith(service, pair),
        (status) => status === 401,
      );
    await eventually(
      () => objects.get('users', 'mia'),
      (found) => found === undefined,
    );
    expect(objects.get('clusterrolebindings', 'mia-r')).toBeUndefined();
    expect(objects.get('secrets', `default/${SECRET}`)).toBeUndefined();
    expect(objects.list('loginrecords').map(({ metadata }) => metadata.name)).toEqual(['bob-1']);
    await makeMia(cluster);
    await eventually(
      () => two.signInAnswer('mia', PASSWORD),
      ({ status }) => status === 200,
    );
    expect([await statusWith(one, pair), await statusWith(two, pair)]).toEqual([401, 401]);
  });

  test('loses the tokens of an earlier life also when no replica ran while it was deleted', async () => {
    const cluster = await startCluster();
    const { objects } = cluster;
    await makeMia(cluster);
    const first = await startService(cluster, { config: SHARED });
    const pair = await signIn(first);
    await first.gatehouse.stop();
    await deleteMia(cluster);
    const second = await startService(cluster, { config: SHARED });
    await eventually(
      () => objects.get('users', 'mia'),
      (found) => found === undefined,
    );
    await makeMia(cluster);
    await eventually(
      () => second.signInAnswer('mia', PASSWORD),
      ({ status }) => status === 200,
    );
    expect(await statusWith(second, pair)).toBe(401);
  });

  test('loses its tokens on every replica when its state becomes Disabled, and gets none back with Active', async () => {
    const cluster = await startCluster();
    await makeMia(cluster);
    const services = [
      await startService(cluster, { config: SHARED }),
      await startService(cluster, { config: SHARED }),
    ] as const;
    const pair = await signIn(services[0]);
    cluster.objects.patch('users', 'mia', { status: { state: 'Disabled' } });
    for (const service of services)
      await eventually(
        () => statusWith(service, pair),
        (status) => status === 401,
      );
    cluster.objects.patch('users', 'mia', { status: { state: 'Active' } });
    await eventually(
      () => services[1].signInAnswer('mia', PASSWORD),
      ({ status }) => status === 200,
    );
    for (const service of services) expect(await statusWith(service, pair)).toBe(401);
  });

  test('gets a login record and the time of the last login', async () => {
    const cluster = await startCluster();
    await makeMia(cluster);
    const service = await startService(cluster, { config: SHARED });
    const pair = await signIn(service);
    const path = '/kapis/iam.gatehouse.io/v1alpha2/users/mia';
    const { body } = await eventually(
      () => service.call(`${path}/loginrecords`, { token: pair.access_token }),
      (answer) => answer.body.totalItems === 1,
    );
    expect(body.items[0]).toMatchObject({
      metadata: { name: expect.stringMatching(/^mia-[0-9a-f]{10}$/) },
      spec: { type: 'Token', provider: '', success: true, reason: 'authenticated successfully', sourceIP: '127.0.0.1' },
    });
    await eventually(
      () => service.call(path, { token: pair.access_token }),
      (answer) => answer.body.status.lastLoginTime !== undefined,
    );
  });

  test('N-15 becomes AuthLimitExceeded after five failures, and signs in again when a manager makes it Active', async () => {
    const cluster = await startCluster();
    await makeMia(cluster);
    const services = [
      await startService(cluster, { config: SHARED }),
      await startService(cluster, { config: SHARED }),
    ] as const;
    for (let failure = 0; failure < 5; failure++) await services[0].signInAnswer('mia', 'wrong');
    await eventually(
      () => cluster.objects.get('users', 'mia')?.['status'] as Record<string, string>,
      ({ state }) => state === 'AuthLimitExceeded',
    );
    await eventually(
      () => services[1].signInAnswer('mia', PASSWORD),
      ({ status }) => status === 400,
    );
    expect((await services[0].signInAnswer('mia', PASSWORD)).status).toBe(429);
    cluster.objects.patch('users', 'mia', { status: { state: 'Active' } });
    for (const service of services)
      await eventually(
        () => service.signInAnswer('mia', PASSWORD),
        ({ status }) => status === 200,
      );
  });

  test('A-42 is answered as an unknown one by a spelling that never failed, while the bucket of the user is full', async () => {
    const cluster = await startCluster();
    await makeMia(cluster);
    const lastTransitionTime = new Date().toISOString();
    cluster.objects.patch('users', 'mia', { status: { state: 'AuthLimitExceeded', lastTransitionTime } });
    const service = await startService(cluster, { config: SHARED });
    const known = await service.signInAnswer('mia@example.com', PASSWORD);
    const unknown = await service.signInAnswer('nobody@example.com', PASSWORD);
    expect([known.status, known.text]).toEqual([400, unknown.text]);
  });

  test('N-15 keeps the owner in at an address of a login record while a stranger guesses on another replica', async () => {
    const cluster = await startCluster();
    await makeMia(cluster);
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    cluster.objects.create('loginrecords', record('mia-1', 'mia', now, { sourceIP: '127.0.0.1' }));
    const service = await startService(cluster, { config: SHARED });
    cluster.objects.patch('users', 'mia', { status: { state: 'AuthLimitExceeded', lastTransitionTime: now } });
    const { access_token: token } = await service.signIn('ada');
    await eventually(
      () => service.call('/kapis/iam.gatehouse.io/v1alpha2/users/mia', { token }),
      ({ body }) => body.status.state === 'AuthLimitExceeded',
    );
    await eventually(
      () => service.signInAnswer('mia', PASSWORD),
      ({ status }) => status === 200,
    );
  });

  test('keeps its tokens while it is throttled', async () => {
    const cluster = await startCluster();
    await makeMia(cluster);
    const service = await startService(cluster, { config: SHARED });
    const pair = await signIn(service);
    cluster.objects.patch('users', 'mia', { status: { state: 'AuthLimitExceeded' } });
    await eventually(
      async () => (await service.call('/kapis/iam.gatehouse.io/v1alpha2/users/mia', { token: pair.access_token })).body,
      ({ status }) => status.state === 'AuthLimitExceeded',
    );
    expect((await service.call(NODES, { token: pair.access_token })).status).toBe(403);
    expect((await service.refresh(pair.refresh_token)).status).toBe(200);
  });
});

describe('the first administrator with accounts', () => {
  test('becomes a User object who must set a password first, signs in with that of the Secret, and is gone when the object is', async () => {
    const cluster = await startCluster();
    const config = { ...SHARED, users: { firstAdministrator: { groups: ['admins'] } } };
    const service = await startService(cluster, { config });
    const made = await eventually(
      () => cluster.objects.get('users', 'admin'),
      (found) => found !== undefined && !found.metadata.annotations?.['iam.gatehouse.io/incomplete'],
    );
    expect(made).toMatchObject({
      metadata: { finalizers: [OURS], annotations: { 'iam.gatehouse.io/uninitialized': 'true' } },
      spec: { groups: ['admins'] },
      status: { state: 'Active' },
    });
    expect(JSON.stringify(made)).not.toContain('$2');
    const { data } = cluster.objects.get('secrets', 'default/gatehouse-first-administrator') as unknown as {
      data: Record<string, string>;
    };
    const password = Buffer.from(data['password'] ?? '', 'base64').toString();
    const pair = await eventually(
      async () => (await service.signInAnswer('admin', password)).body as Pair,
      (body) => body.access_token !== undefined && claimsOf(body)['extra'] !== undefined,
    );
    expect(claimsOf(pair)).toMatchObject({ sub: 'admin', extra: { uninitialized: ['true'] } });
    await deleteUser(cluster, 'admin');
    await eventually(
      () => cluster.objects.get('users', 'admin'),
      (found) => found === undefined,
    );
    for (const replica of [service, await startService(cluster, { config })])
      await eventually(
        () => replica.signInAnswer('admin', password),
        ({ status }) => status === 400,
      );
    expect(cluster.objects.list('users')).toEqual([]);
  });
});
