import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createClientAuthentication } from '../../../src/oauth/endpoints/client-authentication.ts';
import type { Form } from '../../../src/oauth/endpoints/form.ts';
import { createClientFailureCounter } from '../../../src/oauth/metrics.ts';
import type { Client } from '../../../src/oauth/options.ts';
import { Act } from '../../../src/oauth/tokens/act.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { configuredSecrets, refusalOf, testOptions } from './test-server.ts';

const clientOf = (name: string, secret?: string): Client => ({
  name,
  ...(secret === undefined ? { public: true } : { secret, public: false }),
  grantTypes: ['password'],
  redirectURIs: [],
  postLogoutRedirectURIs: [],
});
const LIMIT = 3;
const LONG = 'sixteen-letters-';
const SHORT = LONG.slice(1);

/** Clients with a long secret, with a short one, with one that everybody knows and with none; three failures close a client. */
function start() {
  const clock = new FakeClock();
  const clientFailures = createClientFailureCounter(new Registry());
  const clients = [clientOf('long', LONG), clientOf('short', SHORT), clientOf('known', 'known'), clientOf('app')];
  const clientThrottle = { client: { limit: LIMIT, windowMs: 60_000 }, address: { limit: 100, windowMs: 60_000 } };
  const authentication = createClientAuthentication(
    { ...testOptions, clients, clientThrottle },
    { clock, random: systemRandom, clientFailures, clientSecrets: configuredSecrets },
  );
  const told: unknown[] = [];
  const ask = (fields: Readonly<Record<string, string>>, authorization?: string): string => {
    const events = { report: (_: string, { reason }: { reason?: unknown }) => void told.push(reason) };
    const act = new Act(events, { source: '', requestId: '' }, 'token');
    const form = new Map(Object.entries(fields)) as unknown as Form;
    try {
      return authentication.authenticate(form, { authorization, source: '192.0.2.1' }, act).name;
    } finally {
      act.end();
    }
  };
  const prove = (client_id: string, client_secret?: string): string =>
    ask({ client_id, ...(client_secret === undefined ? {} : { client_secret }) });
  const fail = async (times: number, ask: () => unknown): Promise<number[]> => {
    const statuses = [];
    for (let time = 0; time < times; time++) statuses.push((await refusalOf(ask)).status);
    return statuses;
  };
  return { clock, clientFailures, told, ask, prove, fail };
}

describe('while a client is throttled', () => {
  test('a right secret of 16 characters is taken where it succeeded before', async () => {
    const { prove, fail } = start();
    expect(prove('long', LONG)).toBe('long');
    expect(await fail(LIMIT + 1, () => prove('long', 'wrong'))).toEqual([401, 401, 401, 429]);
    expect(prove('long', LONG)).toBe('long');
  });

  test('a right secret of 15 characters is not taken, wherever it succeeded', async () => {
    const { prove, fail } = start();
    expect(prove('short', SHORT)).toBe('short');
    expect(await fail(LIMIT, () => prove('short', 'wrong'))).toEqual([401, 401, 401]);
    expect(await fail(1, () => prove('short', SHORT))).toEqual([429]);
  });

  test('a right long secret is not taken where it never succeeded', async () => {
    const { prove, fail } = start();
    await fail(LIMIT, () => prove('long', 'wrong'));
    expect(await fail(1, () => prove('long', LONG))).toEqual([429]);
  });

  test('the refusal says in whole seconds when to come again, and is told and counted as what it is', async () => {
    const { clock, clientFailures, told, prove, fail } = start();
    await fail(LIMIT, () => prove('short', 'wrong'));
    await clock.advance(500);
    expect(await refusalOf(() => prove('short', 'wrong'))).toMatchObject({ headers: { 'Retry-After': '60' } });
    expect(told).toEqual(['wrong_secret', 'wrong_secret', 'wrong_secret', 'throttled']);
    const { values } = await clientFailures.get();
    expect(values.filter(({ value }) => value > 0).map(({ labels, value }) => [labels.reason, value])).toEqual([
      ['wrong_secret', LIMIT],
      ['throttled', 1],
    ]);
  });
});

describe('nobody is throttled', () => {
  test('by failures in the name of a client whose secret is its name', async () => {
    const { prove, fail } = start();
    expect(new Set(await fail(LIMIT + 1, () => prove('known', 'wrong')))).toEqual(new Set([401]));
    expect(prove('known', 'known')).toBe('known');
  });

  test('by requests that name no client, or none that can be read', async () => {
    const { ask, told, fail } = start();
    expect(await fail(LIMIT + 1, () => ask({ client_secret: LONG }))).toEqual([401, 401, 401, 401]);
    expect(await fail(LIMIT + 1, () => ask({}, 'Digest x'))).toEqual([401, 401, 401, 401]);
    expect(new Set(told)).toEqual(new Set(['no_credentials', 'unfit_credentials']));
  });

  test('as a public client, at which nothing can be guessed', async () => {
    const { prove, fail } = start();
    expect(await fail(LIMIT + 1, () => prove('app', 'guess'))).toEqual([401, 401, 401, 401]);
    expect([prove('app'), prove('app', 'app')]).toEqual(['app', 'app']);
  });
});
