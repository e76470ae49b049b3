import { describe, expect, test } from 'vitest';
import { startDrivenReady } from './driven.ts';
import { type Answer, passwordOf, type Service, startCluster } from './stand.ts';

const SECRETS = {
  console: 'made-up-secret-of-console',
  other: 'made-up-secret-of-other',
  /** As the built-in client: a secret that everybody knows. */
  gatehouse: 'gatehouse',
} as const;
type ClientName = keyof typeof SECRETS;

/** Odd numbers, so that no default is taken for them. */
const LIMITS = { tries: 3, addressTries: 7, seconds: 47 };

const proxied = (address: string) => ({ 'X-Forwarded-For': address });
const HERE = '192.0.2.1';

class Guesser {
  readonly service: Service;

  constructor(service: Service) {
    this.service = service;
  }

  send(path: string, form: Readonly<Record<string, string>>, from = HERE): Promise<Answer> {
    return this.service.call(path, { form, headers: proxied(from) });
  }

  /** A wrong secret, so many times. */
  async guess(name: string, { times = 1, from = HERE, path = '/oauth/introspect' } = {}): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (let time = 0; time < times; time++)
      answers.push(await this.send(path, { client_id: name, client_secret: 'wrong', token: 'x' }, from));
    return answers;
  }

  /** With the right secret. */
  signIn = (name: ClientName, from = HERE): Promise<Answer> =>
    this.send(
      '/oauth/token',
      {
        ...{ grant_type: 'password', username: 'ada', password: passwordOf('ada') },
        ...{ client_id: name, client_secret: SECRETS[name] },
      },
      from,
    );
}

async function start() {
  const clients = [
    ...Object.entries(SECRETS).map(([name, secret]) => ({ name, secret })),
    { name: 'app', public: true, grantTypes: ['refresh_token'] },
  ];
  const authentication = {
    oauthOptions: { clients },
    trustedProxies: [{ cidr: '127.0.0.1/32' }],
    clientRateLimiterMaxTries: LIMITS.tries,
    clientAddressRateLimiterMaxTries: LIMITS.addressTries,
    clientRateLimiterDuration: `${LIMITS.seconds}s`,
  };
  const { service, clock } = await startDrivenReady(await startCluster(), { config: { authentication } });
  return { clock, guesser: new Guesser(service), service };
}

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status);

describe('guesses of client secrets', () => {
  test.each(['/oauth/token', '/oauth/revoke', '/oauth/introspect'])(
    'N-51 are turned away at %s after the limit, with the right secret too, until the window has passed',
    async (path) => {
      const { clock, guesser } = await start();
      expect(statuses(await guesser.guess('console', { path, times: LIMITS.tries }))).toEqual([401, 401, 401]);
      const form = { client_id: 'console', client_secret: SECRETS.console, token: 'x', grant_type: 'x' };
      const refused = await guesser.send(path, form);
      expect([refused.status, refused.headers.get('retry-after'), refused.text]).toEqual([
        429,
        String(LIMITS.seconds),
        '{"error":"temporarily_unavailable","error_description":"too many failed client authentications"}',
      ]);
      await clock.advance(LIMITS.seconds * 1000);
      expect((await guesser.send(path, form)).status).toBe(path === '/oauth/token' ? 400 : 200);
    },
  );

  test('N-10 are answered alike for a client that exists and for one that does not', async () => {
    const { guesser } = await start();
    const seen = async (name: string, from: string) =>
      (await guesser.guess(name, { times: LIMITS.tries + 2, from })).map(({ status, headers, text }) => {
        const { 'x-request-id': _, date: __, ...rest } = Object.fromEntries(headers);
        return { status, text, headers: rest };
      });
    const known = await seen('console', '192.0.2.8');
    expect(known.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429]);
    expect(await seen('nobody', '192.0.2.9')).toEqual(known);
  });

  test('N-15 of one client at an address keep out neither another client there nor itself elsewhere', async () => {
    const { guesser } = await start();
    await guesser.guess('console', { times: 2 * LIMITS.addressTries });
    expect((await guesser.signIn('other')).status).toBe(200);
    expect((await guesser.signIn('console', '192.0.2.2')).status).toBe(200);
  });

  test('N-15 at an address where a client succeeded keep its right secret out no more, if it is long', async () => {
    const { guesser } = await start();
    expect((await guesser.signIn('console')).status).toBe(200);
    expect(statuses(await guesser.guess('console', { times: LIMITS.tries + 1 })).at(-1)).toBe(429);
    expect((await guesser.signIn('console')).status).toBe(200);
    expect(statuses(await guesser.guess('other', { times: LIMITS.tries + 1 })).at(-1)).toBe(429);
    expect((await guesser.signIn('other')).status).toBe(429);
  });

  test.each(['/oauth/token', '/oauth/revoke', '/oauth/introspect'])(
    'N-15 of a secret that is its client’s id, which proves nothing, keep nobody out at %s',
    async (path) => {
      const { guesser } = await start();
      const times = 2 * LIMITS.addressTries;
      expect(new Set(statuses(await guesser.guess('gatehouse', { path, times })))).toEqual(new Set([401]));
      for (let name = 0; name < LIMITS.addressTries; name++) await guesser.guess(`name-${name}`);
      const form = { client_id: 'gatehouse', client_secret: SECRETS.gatehouse, token: 'x', grant_type: 'x' };
      expect((await guesser.send(path, form)).status).toBe(path === '/oauth/token' ? 400 : 200);
      expect((await guesser.signIn('gatehouse')).status).toBe(200);
      expect((await guesser.guess('other'))[0]?.status).toBe(429); // the address was full
    },
  );

  test('N-15 of a secret that is its client’s id are none against another client at the address', async () => {
    const { guesser } = await start();
    await guesser.guess('gatehouse', { times: 2 * LIMITS.addressTries });
    expect((await guesser.signIn('other')).status).toBe(200);
  });

  test('N-15 of many names at an address keep out who has not signed in there, and nobody who has', async () => {
    const { guesser } = await start();
    expect((await guesser.signIn('console')).status).toBe(200);
    for (let name = 0; name < LIMITS.addressTries; name++) await guesser.guess(`name-${name}`);
    expect([(await guesser.signIn('console')).status, (await guesser.signIn('other')).status]).toEqual([200, 429]);
    expect((await guesser.send('/oauth/revoke', { client_id: 'app', token: 'x' })).status).toBe(200);
  });

  test('a request without a client guesses nothing', async () => {
    const { guesser } = await start();
    const answers = [];
    for (let time = 0; time < 2 * LIMITS.addressTries; time++)
      answers.push(await guesser.send('/oauth/revoke', { token: 'x' }));
    expect(new Set(statuses(answers))).toEqual(new Set([401]));
    expect((await guesser.signIn('console')).status).toBe(200);
  });

  test('R-22 are counted by reason, and told without a name that is none of ours', async () => {
    const { guesser, service } = await start();
    await guesser.guess('console', { times: LIMITS.tries + 1 });
    await guesser.guess('canary-unknown', { times: LIMITS.tries + 1 });
    const count = (reason: string) =>
      service.metric(`gatehouse_client_authentication_failures_total{reason="${reason}"}`);
    const counted = await Promise.all(['wrong_secret', 'unknown_client', 'throttled'].map(count));
    expect(counted).toEqual([LIMITS.tries, LIMITS.tries, 2]);
    const told = service.gatehouse.log.filter(
      ({ event, result }) => event === 'client_refused' && result === 'throttled',
    );
    const expected = { reason: 'throttled', endpoint: 'introspect', source: HERE, level: 'warn' };
    expect(told).toMatchObject([{ ...expected, clientId: 'console' }, expected]);
    expect(JSON.stringify(service.gatehouse.log)).not.toContain('canary-unknown');
  });
});
