import { expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { writeFiles } from './program.ts';
import { type Pair, passwordOf, type Service, startCluster, startService, usersFile } from './stand.ts';

const V1 = 'authentication.k8s.io/v1';
const REMOVED = { client_id: 'removed', client_secret: 'removed-canary-secret' };
const STAYING = { client_id: 'staying', client_secret: 'staying-canary-secret' };
const CALLER = 'made-up-caller-token';
const NOT_VALID = { error: 'invalid_grant', error_description: 'the refresh token is not valid' };

/** Gatehouse with these clients; the second one may introspect everything. The keys are the cluster's. */
async function startWith(cluster: SimulatedCluster, ...clients: (typeof REMOVED)[]): Promise<Service> {
  const { token: callerTokenFile } = writeFiles({ token: CALLER });
  const users = await usersFile();
  return startService(cluster, {
    users,
    config: {
      authentication: {
        tokenReview: { callerTokenFile },
        oauthOptions: {
          clients: clients.map(({ client_id: name, client_secret: secret }) => ({
            ...{ name, secret },
            introspectAll: name === STAYING.client_id,
          })),
        },
      },
    },
  });
}

async function signIn(service: Service, client: typeof REMOVED): Promise<Pair> {
  const form = { grant_type: 'password', ...client, username: 'ada', password: passwordOf('ada') };
  return (await service.call('/oauth/token', { form })).body as Pair;
}

async function review(service: Service, token: string): Promise<unknown> {
  const answer = await fetch(`${service.gatehouse.origin}/oauth/authenticate`, {
    method: 'POST',
    body: JSON.stringify({ apiVersion: V1, kind: 'TokenReview', spec: { token } }),
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${CALLER}` },
  });
  return ((await answer.json()) as { status: unknown }).status;
}

/** What a client that is configured may find out about a pair, and what the pair is good for. */
async function askAll(service: Service, { access_token: token, refresh_token }: Pair): Promise<unknown[]> {
  const grant = { grant_type: 'refresh_token', refresh_token, ...STAYING };
  const { status, text } = await service.list(token);
  return [
    [status, text],
    (await service.call('/oauth/userinfo', { token })).status,
    (await service.call('/oauth/introspect', { form: { token, ...STAYING } })).body.active,
    (await service.call('/oauth/introspect', { form: { token: refresh_token, ...STAYING } })).body.active,
    await review(service, token),
    (await service.call('/oauth/token', { form: grant })).body,
    (await service.call('/oauth/logout', { token })).status,
  ];
}

test('the tokens of a client that was removed from the configuration are revoked everywhere', async () => {
  const cluster = await startCluster();
  const before = await startWith(cluster, REMOVED, STAYING);
  const pair = await signIn(before, REMOVED);
  const authenticated = { authenticated: true, user: expect.anything() };
  expect(await askAll(before, pair)).toEqual([
    [200, expect.anything()],
    200,
    true,
    true,
    authenticated,
    NOT_VALID,
    200,
  ]);
  const [fresh, other] = [await signIn(before, REMOVED), await signIn(before, STAYING)];
  await before.gatehouse.stop();

  const after = await startWith(cluster, STAYING);
  const unauthorized = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized: the access token has been revoked","reason":"Unauthorized","code":401}`;
  for (let time = 0; time < 2; time++)
    expect(await askAll(after, fresh)).toEqual([
      [401, unauthorized],
      401,
      false,
      false,
      { authenticated: false },
      NOT_VALID,
      401,
    ]);
  expect((await after.list(other.access_token)).status).toBe(200);
  expect(await after.metric('gatehouse_token_verifications_total{result="revoked"}')).toBe(2);
});
