import { describe, expect, test } from 'vitest';
import { ADMINS_ROLE } from '../../support/observed/people.ts';
import { hashOf } from '../../support/passwords.ts';
import { NODES, passwordOf, type Service, startCluster, startService } from './stand.ts';

/** Those of Kubernetes itself, and what looks like them. */
const RESERVED = [
  'system:admin',
  'system:masters',
  'system:anonymous',
  'system:node:node-a',
  'system:serviceaccount:default:default',
  'kubeadm:cluster-admins',
  'kubernetes-admin',
  'kubernetes-super-admin',
  'kube-admin',
];

const start = async (): Promise<Service> => {
  // Guesses are not what is looked at here.
  const authentication = { authenticateRateLimiterMaxTries: 100_000, addressRateLimiterMaxTries: 100_000 };
  return startService(await startCluster(), { config: { authentication } });
};

const problem = async (service: Service, token: string, query: string) => {
  const { status, body } = await service.list(token, `?${query}`);
  return [status, body.details?.causes?.[0]?.field ?? body.message];
};

describe('a name of the cluster’s own', () => {
  test('A-32 signs in as nobody: one answer, the same as for any unknown name', async () => {
    const service = await start();
    const unknown = await service.signInAnswer('nobody', 'x');
    for (const name of RESERVED) {
      const { status, text } = await service.signInAnswer(name, 'x');
      expect([name, status, text]).toEqual([name, 400, unknown.text]);
    }
  });

  test('A-31 the group system:masters is nobody’s, whatever binds it', async () => {
    const group = 'system:masters';
    const cluster = await startCluster();
    cluster.objects.create('clusterrolebindings', {
      metadata: { name: 'of-the-cluster-itself' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: ADMINS_ROLE.metadata.name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
    });
    const service = await startService(cluster);
    const { access_token: token } = await service.signIn('joe');
    const passwordHash = await hashOf(passwordOf('joe'));
    const before = service.logged('the changed users file is not taken: the last good one stays').length;
    service.gatehouse.writeUsers(JSON.stringify({ users: [{ name: 'joe', groups: [group], passwordHash }] }));
    await expect
      .poll(() => service.logged('the changed users file is not taken: the last good one stays').length)
      .toBe(before + 1);
    expect((await service.list(token)).status).toBe(403);
  });
});

describe('metric labels', () => {
  test('A-37 of 2,000 made-up paths, users, clients, tokens and methods are a few words of ours', async () => {
    const service = await start();
    const names = async (): Promise<string[]> =>
      (await service.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const token = (await service.signIn('ada')).access_token;
    for (let at = 0; at < 400; at++) {
      await service.call(`/made-up-${at}/${at}`, { token });
      await service.call(`/kapis/made-up-${at}.io/v1/things/${at}`);
      await service.list(`made-up-${at}`);
      await service.call(NODES, { token, method: ['PUT', 'DELETE', 'PATCH', 'REPORT'][at % 4] ?? '' });
      await service.call('/oauth/token', {
        form: {
          grant_type: `made-up-${at}`,
          client_id: `made-up-${at}`,
          client_secret: 'x',
          username: `made-up-${at}`,
        },
      });
    }
    const series = await names();
    expect(series.filter((line) => line.includes('made-up'))).toEqual([]);
    expect(series.length).toBeLessThanOrEqual(2_000);
  });
});

const many = (count: number): string => Array.from({ length: count }, (_, at) => `k${at}`).join(',');

/** What `labelSelector` must not be. */
const SELECTORS = [
  'a'.repeat(4_097),
  'a'.repeat(14_000),
  many(65),
  many(1_000),
  `a in ${'('.repeat(500)}x${')'.repeat(500)}`,
  'a in (x',
];

const NO_INTEGERS = [
  '9223372036854775808',
  '-9223372036854775809',
  'NaN',
  '1.5',
  '1e9',
  '1e3',
  '0x10',
  'Infinity',
  '1 ',
];

/** Items of a page of three nodes. */
const PAGES: Readonly<Record<string, number>> = {
  'limit=0': 0,
  'limit=-1': 3,
  'limit=-2': 0,
  'limit=-9223372036854775808': 0,
  'limit=1': 1,
  'limit=2147483648': 3,
  'limit=9007199254740993': 3,
  'limit=9223372036854775807': 3,
  'limit=': 3,
  'limit=2&page=2': 1,
  'limit=2&page=3': 0,
  'limit=2&page=2147483648': 0,
  'limit=2&page=9007199254740993': 0,
  'limit=2&page=4611686018427387905': 0,
  'limit=9223372036854775807&page=9223372036854775807': 0,
};

const OTHERS: Readonly<Record<string, string>> = {
  'limit=1&limit=1': 'limit',
  'sortBy=__proto__': 'sortBy',
  'sortBy=constructor': 'sortBy',
  'sortBy=unknown': 'sortBy',
  'ascending=maybe': 'ascending',
  '__proto__=1': '__proto__',
  'namespace=a&namespace=b': 'namespace',
  'verb=delete': 'verb',
};

describe('a query of the node list', () => {
  const signedIn = async () => {
    const service = await start();
    return { service, token: (await service.signIn('ada')).access_token };
  };

  test('A-38 with a selector of more than 4 KiB or 64 terms, or one that nests, is 400', async () => {
    const { service, token } = await signedIn();
    for (const selector of SELECTORS)
      expect(await problem(service, token, `labelSelector=${encodeURIComponent(selector)}`)).toEqual([
        400,
        'labelSelector',
      ]);
    expect((await service.list(token, `?labelSelector=${many(64)}`)).body.totalItems).toBe(0);
  });

  test('A-38 with characters of patterns has them for letters', async () => {
    const { service, token } = await signedIn();
    for (const name of ['.*', 'node-[abc]', '(a+)+$', '^node', 'node-a|node-b', 'node*'])
      expect((await service.list(token, `?name=${encodeURIComponent(name)}`)).body).toEqual({
        items: [],
        totalItems: 0,
      });
    expect((await service.list(token, '?name=node-a')).body.totalItems).toBe(1);
  });

  test('A-39 with what is no integer of 64 bits for limit or page is 400, and named', async () => {
    const { service, token } = await signedIn();
    for (const value of NO_INTEGERS)
      for (const name of ['limit', 'page'])
        expect([value, ...(await problem(service, token, `${name}=${encodeURIComponent(value)}`))]).toEqual([
          value,
          400,
          name,
        ]);
  });

  test('A-39 with a huge limit or page has the items there are, and the true total', async () => {
    const { service, token } = await signedIn();
    for (const [query, count] of Object.entries(PAGES)) {
      const { status, body } = await service.list(token, `?${query}`);
      expect([query, status, body.items?.length, body.totalItems]).toEqual([query, 200, count, 3]);
    }
  });

  test('A-26 A-39 with a parameter twice, an unknown one or a word for another is 400, and named', async () => {
    const { service, token } = await signedIn();
    for (const [query, name] of Object.entries(OTHERS))
      expect([query, ...(await problem(service, token, query))]).toEqual([query, 400, name]);
  });
});
