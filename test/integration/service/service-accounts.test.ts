import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { startDrivenReady } from './driven.ts';
import {
  type Answer,
  CLIENT,
  CONFIDENTIAL,
  eventually,
  NODES,
  type Service,
  startCluster,
  startService,
} from './stand.ts';

const AUDIENCE = 'http://localhost:9090/oauth';
const ROBOT = 'system:serviceaccount:default:robot';
const ISSUER = { oauthOptions: { ...CONFIDENTIAL.oauthOptions, issuer: AUDIENCE } };
const serviceAccountTokens = { enabled: true };
const ON = { config: { authentication: { ...ISSUER, serviceAccountTokens, tokenReview: { callerAuth: 'none' } } } };
const reviews = 'tokenreviews';
const INVALID = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'Unauthorized: the access token is not valid',
  reason: 'Unauthorized',
  code: 401,
};

/** A cluster with the service accounts robot, who has Ada's rights, and stranger, who has none. */
async function startRobots(options: Parameters<typeof startCluster>[0] = {}): Promise<SimulatedCluster> {
  const cluster = await startCluster(options);
  for (const name of ['robot', 'stranger'])
    cluster.objects.create('serviceaccounts', { metadata: { name, namespace: 'default' } });
  cluster.objects.create('clusterrolebindings', {
    metadata: { name: 'robots' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'observed-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
  });
  return cluster;
}

const tokenOf = (cluster: SimulatedCluster, name = 'robot', audiences = [AUDIENCE]): string =>
  cluster.serviceAccountToken('default', name, audiences);
const asked = (cluster: SimulatedCluster): number => cluster.evidence.count('create', reviews);
const keysOf = (service: Service): Promise<number> => service.metric('gatehouse_service_account_keys');
const KEYS_UNREAD =
  'the service account keys of the cluster cannot be read: it is asked about every token that looks like one of its own';
const KEYS = { when: ({ path }: { readonly path: string }) => path === '/openid/v1/jwks' };
/** What the cluster's TokenReview webhook would be told. */
async function review({ gatehouse }: Service, token: string): Promise<Pick<Answer, 'status' | 'body'>> {
  const answer = await fetch(`${gatehouse.origin}/oauth/authenticate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }),
  });
  return { status: answer.status, body: await answer.json() };
}

const lineOf = (service: Service) => service.logged('request').findLast(({ route }) => route === NODES);

describe('a service account token, with the setting', () => {
  test('lists the nodes with the rights of the service account, and one review serves a hundred calls', async () => {
    const cluster = await startRobots();
    const { service } = await startDrivenReady(cluster, ON); // an answer is good for 10 s, which pass for nobody here
    const token = tokenOf(cluster);
    for (let call = 0; call < 100; call++) expect((await service.list(token)).status).toBe(200);
    expect(asked(cluster)).toBe(1);
    expect(await service.metric('gatehouse_token_verifications_total{result="ok"}')).toBe(1);
    expect(await service.metric('gatehouse_token_verifications_total{result="cached"}')).toBe(99);
  });

  test('is authorized by name, uid and groups as the cluster says them', async () => {
    const cluster = await startRobots();
    const service = await startService(cluster, ON);
    await service.list(tokenOf(cluster));
    const review = cluster.evidence.requests.findLast(({ target }) => target?.kind.plural === 'subjectaccessreviews');
    expect(JSON.parse(review!.body.toString()).spec).toMatchObject({
      user: ROBOT,
      uid: cluster.objects.get('serviceaccounts', 'default/robot')?.metadata.uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    });
  });

  test('NE-03 of a service account without the right is 403', async () => {
    const cluster = await startRobots();
    const service = await startService(cluster, ON);
    const answer = await service.list(tokenOf(cluster, 'stranger'));
    expect([answer.status, answer.body.message]).toEqual([
      403,
      'nodes.resources.gatehouse.io is forbidden: User "system:serviceaccount:default:stranger" cannot list resource ' +
        '"nodes" in API group "resources.gatehouse.io" at the cluster scope',
    ]);
  });

  test('is logged by the name of each service account, without client and session', async () => {
    const cluster = await startRobots();
    // Everybody may, so that nothing but the name tells one line from the other.
    const service = await startService(cluster, { config: { ...ON.config, authorization: { mode: 'AlwaysAllow' } } });
    for (const name of ['robot', 'stranger', 'robot']) {
      await service.list(tokenOf(cluster, name));
      const { user, clientId, sid } = lineOf(service)!;
      expect([user, clientId, sid]).toEqual([`system:serviceaccount:default:${name}`, undefined, undefined]);
    }
  });

  test('of another audience is 401 without a review', async () => {
    const cluster = await startRobots();
    const service = await startService(cluster, ON);
    const answer = await service.list(tokenOf(cluster, 'robot', ['https://kubernetes.default.svc']));
    expect([answer.status, answer.body]).toEqual([401, INVALID]);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="gatehouse", error="invalid_token"');
    expect(asked(cluster)).toBe(0);
  });

  test('takes the audience that is set', async () => {
    const cluster = await startRobots();
    const serviceAccountTokens = { enabled: true, audience: 'gatehouse' };
    const config = { authentication: { ...ISSUER, serviceAccountTokens } };
    const service = await startService(cluster, { config });
    expect((await service.list(tokenOf(cluster, 'robot', ['gatehouse']))).status).toBe(200);
    expect((await service.list(tokenOf(cluster))).status).toBe(401);
  });

  test('A-51 forged is 401 by the keys that the cluster publishes, and nobody is asked', async () => {
    const cluster = await startRobots();
    const service = await startService(cluster, ON);
    await eventually(
      () => keysOf(service),
      (keys) => keys === 1,
    );
    const answer = await service.list(`${tokenOf(cluster).slice(0, -8)}AAAAAAAA`);
    expect([answer.status, answer.body, asked(cluster)]).toEqual([401, INVALID, 0]);
    expect((await service.list(tokenOf(cluster))).status).toBe(200);
  });

  test('is good under each key of a rotation, the new one at once, and not under one that was withdrawn', async () => {
    const cluster = await startRobots();
    const { clock, service } = await startDrivenReady(cluster, ON);
    await clock.until(
      () => keysOf(service),
      (keys) => keys === 1,
    );
    const before = tokenOf(cluster);
    const unused = tokenOf(cluster);
    cluster.addServiceAccountKey('RS256');
    await clock.advance(5_000);
    for (const token of [tokenOf(cluster), before]) expect((await service.list(token)).status).toBe(200);
    expect([await keysOf(service), asked(cluster)]).toEqual([2, 2]);
    cluster.retireServiceAccountKeys();
    await clock.until(
      () => keysOf(service),
      (keys) => keys === 1,
    );
    expect([(await service.list(unused)).status, asked(cluster)]).toEqual([401, 2]);
  });

  test('is judged by the cluster alone while its keys cannot be read, and by both as soon as they can', async () => {
    const cluster = await startRobots();
    const heal = cluster.faults.until(KEYS, { status: 403 });
    const { clock, service } = await startDrivenReady(cluster, ON);
    const forged = (): string => `${tokenOf(cluster).slice(0, -8)}AAAAAAAA`;
    expect([(await service.list(tokenOf(cluster))).status, (await service.list(forged())).status]).toEqual([200, 401]);
    expect([asked(cluster), await keysOf(service)]).toEqual([2, 0]);
    await clock.advance(60_000);
    expect(service.logged(KEYS_UNREAD).filter(({ level }) => level === 'warn').length).toBe(1);
    heal();
    await clock.until(
      () => keysOf(service),
      (keys) => keys === 1,
    );
    expect([(await service.list(forged())).status, asked(cluster)]).toEqual([401, 2]);
  });

  test('of a deleted service account is 401 10 s later', async () => {
    const cluster = await startRobots();
    const { clock, service } = await startDrivenReady(cluster, ON);
    const token = tokenOf(cluster);
    expect((await service.list(token)).status).toBe(200);
    cluster.objects.remove('serviceaccounts', 'default/robot');
    await clock.advance(9_000);
    expect((await service.list(token)).status).toBe(200);
    await clock.advance(1_001);
    expect((await service.list(token)).status).toBe(401);
  });

  test('is good for a minute while the cluster cannot be asked; an unknown one is 503 meanwhile', async () => {
    const cluster = await startRobots();
    const { clock, service } = await startDrivenReady(cluster, ON);
    const token = tokenOf(cluster);
    await service.list(token);
    cluster.faults.until({ kind: reviews }, { connection: 'reset' });
    await clock.advance(50_000);
    expect((await service.list(token)).status).toBe(200);
    const unknown = await service.list(tokenOf(cluster, 'stranger'));
    expect([unknown.status, unknown.body.message, unknown.headers.get('retry-after')]).toEqual([
      503,
      'service account tokens cannot be checked now',
      '5',
    ]);
    await clock.advance(10_001);
    expect((await service.list(token)).status).toBe(503);
  });

  test('is unknown under /oauth, which never asks the cluster', async () => {
    const cluster = await startRobots();
    const service = await startService(cluster, ON);
    const token = tokenOf(cluster);
    const calls = [
      await service.call('/oauth/logout', { token }),
      await service.call('/oauth/userinfo', { token }),
      await service.call('/oauth/introspect', { form: { ...CLIENT, token } }),
      await service.call('/oauth/revoke', { form: { ...CLIENT, token } }),
      await review(service, token),
    ];
    expect(calls.map(({ status, body }) => [status, body?.error ?? body?.status ?? body])).toEqual([
      [401, 'invalid_token'],
      [401, 'invalid_token'],
      [200, { active: false }],
      [200, undefined],
      [200, { authenticated: false }],
    ]);
    expect(asked(cluster)).toBe(0);
  });

  test('changes nothing for people, and nobody is asked about them', async () => {
    const cluster = await startRobots();
    const service = await startService(cluster, ON);
    const { access_token: token, refresh_token } = await service.signIn('ada');
    expect((await service.list(token)).status).toBe(200);
    expect((await service.list(refresh_token)).body).toEqual(INVALID);
    await service.call('/oauth/logout', { token });
    expect((await service.list(token)).body.message).toBe('Unauthorized: the access token has been revoked');
    expect((await service.list('garbage')).body).toEqual(INVALID);
    expect(asked(cluster)).toBe(0);
  });

  test('never reaches a log line, nor an answer', async () => {
    const cluster = await startRobots();
    const service = await startService(cluster, ON);
    const token = tokenOf(cluster);
    const text = (await service.list(token)).text;
    cluster.faults.until({ kind: reviews }, { status: 403 });
    const refused = (await service.list(tokenOf(cluster, 'stranger'))).text;
    const signature = token.split('.')[2]!;
    expect([text, refused, JSON.stringify(service.gatehouse.log)].filter((one) => one.includes(signature))).toEqual([]);
    expect(service.logged('reviews of unknown tokens fail').length).toBe(1);
  });
});

describe('a service account token, without the setting', () => {
  test('N-36 A-32 is refused as any foreign token is, and nobody is asked', async () => {
    const cluster = await startRobots();
    const service = await startService(cluster, { config: { authentication: ISSUER } });
    const answer = await service.list(tokenOf(cluster));
    expect([answer.status, answer.body, asked(cluster)]).toEqual([401, INVALID, 0]);
  });
});
