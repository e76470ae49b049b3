import { randomBytes } from 'node:crypto';
import { Agent, get } from 'node:http';
import { expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { TokenKey } from '../../../dev/cluster/token-keys.ts';
import { toJwsPart } from '../../../src/oauth/tokens/compact-jws.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually, NODES, type Service, startCluster, startService } from './stand.ts';

const AUDIENCE = 'gatehouse';
const serviceAccountTokens = { enabled: true, audience: AUDIENCE };
/** Everybody may: what is counted are token reviews. */
const CONFIG = { authentication: { serviceAccountTokens }, authorization: { mode: 'AlwaysAllow' } };

const ACCOUNTS = 20;
const GOOD = 200;
const JUNK_FOR_EACH = 12;
/** Each sends as fast as it is answered, so the flood lasts for as long as there are good ones. */
const CONNECTIONS = { good: 2, junk: 2 * JUNK_FOR_EACH };

/** A cluster that signs with RS256, as most do, and has service accounts. */
async function startAccounts(): Promise<SimulatedCluster> {
  const cluster = await startCluster();
  cluster.addServiceAccountKey('RS256');
  cluster.retireServiceAccountKeys();
  for (let account = 0; account < ACCOUNTS; account++)
    cluster.objects.create('serviceaccounts', { metadata: { name: `a${account}`, namespace: 'default' } });
  return cluster;
}

/** Tokens that look like the cluster's and are not, made from one that is: of each kind in turn, no two alike. */
function createJunk(good: string): () => string {
  const [header = '', payload = '', signature = ''] = good.split('.');
  const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const thief = new TokenKey('ES256');
  const random = (bytes = 16): string => randomBytes(bytes).toString('base64url');
  const another = (): string =>
    toJwsPart({ ...claims, jti: random(), sub: `system:serviceaccount:default:${random(4)}` });
  const kinds = [
    () => `${header}.${payload}.${random(256)}`,
    () => `${header}.${another()}.${signature}`,
    () => `${toJwsPart({ alg, kid: random(32) })}.${another()}.${signature}`,
    () => `${toJwsPart({ alg: 'none', kid })}.${another()}.${random(1)}`,
    () =>
      `${toJwsPart({ alg: 'ES256', kid })}.${thief
        .sign({ ...claims, jti: random() })
        .split('.')
        .slice(1)
        .join('.')}`,
    () => thief.sign({ ...claims, jti: random() }),
  ];
  const turn = { of: 0 };
  return () => kinds[turn.of++ % kinds.length]!();
}

/** The statuses of calls with these tokens, one after the other on each of so many connections. */
async function callWithAll(
  { gatehouse }: Service,
  tokens: readonly string[],
  maxSockets: number,
): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets });
  atEnd(async () => agent.destroy());
  const call = (token: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const options = { agent, headers: { authorization: `Bearer ${token}` } };
      get(`${gatehouse.origin}${NODES}?limit=1`, options, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      }).on('error', reject);
    });
  return Promise.all(tokens.map(call));
}

const countOf = (statuses: readonly number[], wanted: number): number =>
  statuses.filter((status) => status === wanted).length;

test('A-51 a flood of junk takes nothing from new good tokens, and asks the cluster nothing', async () => {
  const cluster = await startAccounts();
  const service = await startService(cluster, { config: CONFIG });
  await eventually(
    () => service.metric('gatehouse_service_account_keys'),
    (keys) => keys === 1,
  );
  const goodOnes = Array.from({ length: GOOD }, (_, index) =>
    cluster.serviceAccountToken('default', `a${index % ACCOUNTS}`, [AUDIENCE]),
  );
  const newJunk = createJunk(goodOnes[0]!);
  const junk = Array.from({ length: GOOD * JUNK_FOR_EACH }, newJunk);
  const [good, refused] = await Promise.all([
    callWithAll(service, goodOnes, CONNECTIONS.good),
    callWithAll(service, junk, CONNECTIONS.junk),
  ]);
  expect(countOf(good, 200)).toBeGreaterThanOrEqual(GOOD * 0.99);
  expect(countOf(refused, 401)).toBe(junk.length);
  expect(cluster.evidence.count('create', 'tokenreviews')).toBe(countOf(good, 200));
  expect(await service.metric('gatehouse_token_verifications_total{result="overloaded"}')).toBe(0);
});

test('A-51 junk under a slow curve from one address turns no good token of another away', async () => {
  const cluster = await startAccounts();
  cluster.addServiceAccountKey('ES512');
  cluster.retireServiceAccountKeys();
  const trustedProxies = [{ cidr: '127.0.0.1/32' }];
  const config = { ...CONFIG, authentication: { ...CONFIG.authentication, trustedProxies } };
  const service = await startService(cluster, { config });
  await eventually(
    () => service.metric('gatehouse_service_account_keys'),
    (keys) => keys === 1,
  );
  const good = (index: number): string => cluster.serviceAccountToken('default', `a${index}`, [AUDIENCE]);
  const call = async (token: string, from: string): Promise<number> =>
    (await service.call(NODES, { token, headers: { 'X-Forwarded-For': from } })).status;
  const signature = Buffer.alloc(132, 1).toString('base64url');
  const [header, payload] = good(0).split('.');
  const junk = Array.from({ length: 100 }, () => call(`${header}.${payload}.${signature}`, '192.0.2.1'));
  const others = Array.from({ length: 3 }, (_, index) => call(good(index), '192.0.2.2'));
  expect(await Promise.all(others)).toEqual([200, 200, 200]);
  expect(new Set([401, 429])).toEqual(new Set([401, 429, ...(await Promise.all(junk))]));
});
