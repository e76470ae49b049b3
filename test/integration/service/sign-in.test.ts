import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { hashOf } from '../../support/passwords.ts';
import { CLIENT, passwordOf, type Service, startCluster, startService } from './stand.ts';

/** Requests that change what is stored; a review is asked with POST, too, and stores nothing. */
const writesOf = ({ evidence }: SimulatedCluster): string[] =>
  evidence.requests
    .filter(({ method, target }) => method !== 'GET' && target?.kind.plural !== 'subjectaccessreviews')
    .map(({ method, path }) => `${method} ${path}`);

const start = async (authentication: object = {}): Promise<{ cluster: SimulatedCluster; service: Service }> => {
  const cluster = await startCluster();
  const service = await startService(cluster, { config: { authentication } });
  cluster.evidence.reset();
  return { cluster, service };
};

/** Ada has an e-mail address. */
async function startWithEmail(): Promise<{ service: Service }> {
  const passwordHash = await hashOf(passwordOf('ada'));
  const users = JSON.stringify({ users: [{ name: 'ada', email: 'ada@example.com', passwordHash }] });
  return { service: await startService(await startCluster(), { users }) };
}

/** A failed sign-in, with a name of its own unless one is given; answers its status. */
const fail = async (service: Service, nth: number, headers: Record<string, string> = {}): Promise<number> => {
  const form = { grant_type: 'password', ...CLIENT, username: nth % 2 ? `nobody-${nth}` : 'joe', password: 'wrong' };
  return (await service.call('/oauth/token', { form, headers })).status;
};

describe('failed sign-ins', () => {
  test('R-17 A-43 a thousand write nothing to the cluster, raise the alarm, and leave live tokens alone', async () => {
    const { cluster, service } = await start();
    const { access_token: token } = await service.signIn('ada');
    const statuses = new Set<number>();
    for (let nth = 0; nth < 1000; nth++) statuses.add(await fail(service, nth));
    expect([...statuses].sort()).toEqual([400, 429]);
    expect(writesOf(cluster)).toEqual([]);
    expect((await service.list(token)).status).toBe(200);
    // At least once: on a busy machine it takes more than the minute after which both are told again.
    expect(await service.metric('gatehouse_security_events_total{event="sign_in_failures_many"}')).toBeGreaterThan(0);
    const told = service.gatehouse.log.filter((line) => line['event'] === 'sign_in_throttled');
    expect(new Set(told.map(({ bucket, source }) => `${bucket} ${source}`))).toEqual(
      new Set(['user 127.0.0.1', 'address 127.0.0.1']),
    );
    expect(new Set(told.map(({ user }) => user))).toEqual(new Set(['joe', undefined]));
  });

  test('A-42 are answered alike, byte by byte, by name and by e-mail of a user and of nobody', async () => {
    const { service } = await startWithEmail();
    const answersFor = async (name: string): Promise<unknown[]> => {
      const spellings = [...Array<string>(5).fill(name), `${name}@example.com`, name, `${name}@example.com`];
      const answers: unknown[] = [];
      for (const spelling of spellings) {
        const { status, text, headers } = await service.signInAnswer(spelling, 'wrong');
        const { date: _, 'x-request-id': __, 'retry-after': seconds = '', ...others } = Object.fromEntries(headers);
        // The address has no full bucket yet, so what is left of 30 min is the bucket of the text.
        answers.push({ status, text, others, waits: seconds === '' ? 'not' : Math.round(Number(seconds) / 600) });
      }
      return answers;
    };
    const known = await answersFor('ada');
    expect(known.map((answer) => (answer as { status: number }).status)).toEqual([...Array(6).fill(400), 429, 400]);
    expect(await answersFor('eve')).toEqual(known);
  });

  test('A-34 count for the socket’s address, whatever headers claim', async () => {
    const { service } = await start({ addressRateLimiterMaxTries: 3 });
    const claims = (nth: number): Record<string, string> => {
      const address = `198.51.100.${nth}`;
      return {
        'x-forwarded-for': address,
        'x-real-ip': address,
        'x-client-ip': address,
        forwarded: `for=${address}`,
      };
    };
    const statuses: number[] = [];
    for (let nth = 0; nth < 4; nth++) statuses.push(await fail(service, nth, claims(nth)));
    expect(statuses).toEqual([400, 400, 400, 429]);
  });

  test('A-34 count for the address that a trusted proxy names', async () => {
    const { service } = await start({ addressRateLimiterMaxTries: 1, trustedProxies: [{ cidr: '127.0.0.0/8' }] });
    const statuses: number[] = [];
    for (const address of ['198.51.100.1', '198.51.100.1', '203.0.113.9, 198.51.100.1', '198.51.100.2'])
      statuses.push(await fail(service, statuses.length, { 'x-forwarded-for': address }));
    expect(statuses).toEqual([400, 429, 429, 400]);
  });

  test('A-34 count for the address that a trusted proxy names with a port or in brackets', async () => {
    const { service } = await start({ addressRateLimiterMaxTries: 1, trustedProxies: [{ cidr: '127.0.0.0/8' }] });
    const claims = ['203.0.113.7:41234', '203.0.113.7:41235', '203.0.113.8:41234', '[2001:db9::7]:1', '[2001:db9::7]'];
    const statuses: number[] = [];
    for (const claim of claims) statuses.push(await fail(service, statuses.length, { 'x-forwarded-for': claim }));
    expect(statuses).toEqual([400, 429, 400, 400, 429]);
  });
});

describe('sign-ins and refreshes', () => {
  test('R-17 write nothing to the cluster while sessions are kept in memory', async () => {
    const { cluster, service } = await start();
    const { refresh_token: first } = await service.signIn('ada');
    const { refresh_token: second } = (await service.refresh(first)).body;
    expect((await service.refresh(second)).status).toBe(200);
    expect((await service.signInAnswer('ada', passwordOf('ada'))).status).toBe(200);
    expect(writesOf(cluster)).toEqual([]);
  });

  test('R-17 write nothing at a sign-in and once at a refresh while sessions are kept in the cluster', async () => {
    const cluster = await startCluster();
    const service = await startService(cluster, { config: { sessions: { store: 'kubernetes' } } });
    cluster.evidence.reset();
    let { refresh_token: token } = await service.signIn('ada');
    expect(writesOf(cluster)).toEqual([]);
    for (let refresh = 1; refresh <= 3; refresh++) {
      token = (await service.refresh(token)).body.refresh_token;
      expect(writesOf(cluster)).toHaveLength(refresh);
    }
  });
});
