import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { hashOf } from '../../support/passwords.ts';
import { startProgram } from './program.ts';
import { NODES, type Pair, passwordOf, type Service, startCluster, startService } from './stand.ts';

const CLIENT_SECRET = 'canary-client-secret-0123456789';
const TYPED = {
  wrong: 'canary-wrong-password',
  encrypt: 'canary-encrypt',
  query: 'canary-query',
  bearer: 'canary.bearer.x',
};

const SETTINGS = {
  authentication: { oauthOptions: { clients: [{ name: 'console', secret: CLIENT_SECRET }] } },
  users: { firstAdministrator: { groups: ['admins'] } },
};
const CONSOLE = { client_id: 'console', client_secret: CLIENT_SECRET };

/** Texts of the Secrets that Gatehouse made, decoded: the administrator's password and hash, every member of every key. */
function secretTexts(cluster: SimulatedCluster): string[] {
  const values = cluster.objects.list('secrets').flatMap(({ data }) => Object.values(data as Record<string, string>));
  const decoded = values.map((value) => Buffer.from(value, 'base64').toString());
  const keys = decoded.find((text) => text.includes('"keys"')) ?? '{"keys":[]}';
  const members = (JSON.parse(keys) as { keys: { jwk: Record<string, string> }[] }).keys.flatMap(({ jwk }) =>
    ['d', 'p', 'q', 'dp', 'dq', 'qi'].map((name) => jwk[name] ?? ''),
  );
  return [...values, ...decoded, ...members].filter((text) => text.length > 12);
}

/** Whole tokens, and the signature alone: what makes a token one. */
const tokenTexts = (pairs: readonly Pair[]): string[] =>
  pairs
    .flatMap(({ access_token, refresh_token }) => [access_token, refresh_token])
    .flatMap((token) => [token, token.split('.')[2] ?? token]);

/** Everything that a client may send a secret in, right and wrong; answers the pairs it was given. */
async function sendSecrets(service: Service): Promise<Pair[]> {
  const send = (form: Readonly<Record<string, string>>, headers = {}) =>
    service.call('/oauth/token', { form: { ...CONSOLE, ...form }, headers });
  const password = { grant_type: 'password', username: 'ada', password: passwordOf('ada'), encrypt: TYPED.encrypt };
  const first = (await send(password)).body as Pair;
  const second = (await send({ grant_type: 'refresh_token', refresh_token: first.refresh_token })).body as Pair;
  const third = (await send({ grant_type: 'refresh_token', refresh_token: second.refresh_token })).body as Pair;
  await send({ ...password, password: TYPED.wrong });
  await send({ ...password, client_secret: TYPED.wrong });
  await send({ grant_type: TYPED.query });
  await send(
    { grant_type: 'refresh_token', refresh_token: first.refresh_token },
    { authorization: `Bearer ${TYPED.bearer}` },
  );
  const basic = Buffer.from(`console:${CLIENT_SECRET}`).toString('base64');
  await service.call('/oauth/token', { form: password, headers: { authorization: `Basic ${basic}` } });
  await service.call(`/oauth/token?password=${TYPED.query}`, { form: password });
  await service.call(`${NODES}?access_token=${TYPED.query}`, { token: third.access_token });
  await service.call(NODES, { token: TYPED.bearer, headers: { cookie: `token=${TYPED.query}` } });
  await service.list(third.refresh_token);
  await service.list(third.access_token);
  await service.call(`/oauth/userinfo?access_token=${TYPED.query}`, { token: third.access_token });
  await service.call('/oauth/userinfo', { form: { access_token: TYPED.query }, token: TYPED.bearer });
  for (const path of ['/oauth/introspect', '/oauth/revoke']) {
    await service.call(path, { form: { ...CONSOLE, token: TYPED.bearer } });
    await service.call(path, { form: { ...CONSOLE, client_secret: TYPED.wrong, token: third.refresh_token } });
    await service.call(`${path}?token=${TYPED.query}`, { form: { ...CONSOLE, token: third.refresh_token } });
  }
  await service.call('/oauth/introspect', { form: { ...CONSOLE, token: third.refresh_token } });
  await service.call('/oauth/revoke', { form: { ...CONSOLE, token: second.refresh_token } });
  await service.call(`/oauth/logout?id_token_hint=${TYPED.query}`, { token: third.access_token });
  return [first, second, third];
}

/** The cluster fails in every way at every kind of request, so that failures are logged with their causes. */
async function loseCluster(cluster: SimulatedCluster, service: Service): Promise<void> {
  const { access_token: token } = (
    await service.call('/oauth/token', {
      form: { grant_type: 'password', ...CONSOLE, username: 'joe', password: passwordOf('joe') },
    })
  ).body as Pair;
  for (const behaviour of [{ status: 401 }, { status: 500 }, { connection: 'reset' }] as const) {
    cluster.faults.until({}, behaviour);
    await cluster.restart();
    await service.list(token);
    await service.call('/readyz');
    cluster.faults.clear();
  }
}

describe('no secret', () => {
  test('A-36 is in the log, at any level, or in the metrics', async () => {
    const cluster = await startCluster({ isNew: true });
    const service = await startService(cluster, { config: SETTINGS });
    const pairs = await sendSecrets(service);
    await loseCluster(cluster, service);
    service.gatehouse.writeUsers('users: [{name: ada, passwordHash: canary-bad-hash}]');
    await expect
      .poll(() => service.logged('the changed users file is not taken: the last good one stays').length)
      .toBe(1);
    const seen = JSON.stringify(service.gatehouse.log) + (await service.metrics());
    expect(seen).toContain('"status":401'); // it did see the requests
    const secrets = [
      ...secretTexts(cluster),
      ...tokenTexts(pairs),
      ...Object.values(TYPED),
      ...[CLIENT_SECRET, passwordOf('ada'), passwordOf('joe'), cluster.adminToken, 'canary-bad-hash'],
      ...(await Promise.all([hashOf(passwordOf('ada')), hashOf(passwordOf('joe'))])),
    ];
    expect(secrets.length).toBeGreaterThan(30);
    expect(secrets.filter((secret) => seen.includes(secret))).toEqual([]);
  });

  test.each(['json', 'pretty'])('A-36 is in the output of the program in the form %s', async (format) => {
    const cluster = await startCluster({ isNew: true });
    const program = await startProgram(cluster, { config: { ...SETTINGS, log: { level: 'debug', format } } });
    const pairs = await sendSecrets(await program.service());
    program.signal('SIGTERM');
    const { stdout, stderr } = await program.ended;
    const secrets = [
      ...secretTexts(cluster),
      ...tokenTexts(pairs),
      ...[...Object.values(TYPED), CLIENT_SECRET, passwordOf('ada'), cluster.adminToken],
      await hashOf(passwordOf('ada')),
    ];
    expect(stdout).toMatch(/\brequest\b/);
    expect(secrets.filter((secret) => (stdout + stderr).includes(secret))).toEqual([]);
  });
});
