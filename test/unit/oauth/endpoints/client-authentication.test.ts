import * as crypto from 'node:crypto';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createClientAuthentication } from '../../../../src/oauth/endpoints/client-authentication.ts';
import type { Form } from '../../../../src/oauth/endpoints/form.ts';
import { createClientFailureCounter } from '../../../../src/oauth/metrics.ts';
import { Act } from '../../../../src/oauth/tokens/act.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { configuredSecrets, testOptions } from '../test-server.ts';

vi.mock('node:crypto', async (original) => {
  const real = await original<typeof crypto>();
  return { ...real, timingSafeEqual: vi.fn(real.timingSafeEqual), createHmac: vi.fn(real.createHmac) };
});

const clients = createClientAuthentication(testOptions, {
  clientSecrets: configuredSecrets,
  clock: new FakeClock(),
  random: systemRandom,
  clientFailures: createClientFailureCounter(new Registry()),
});
const act = new Act({ report: () => {} }, { source: '', requestId: '' }, 'token');
/** Nobody is throttled: each comes from an address of its own. */
const addresses = { given: 0 };

const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;
const formOf = (fields: Readonly<Record<string, string>>): Form => new Map(Object.entries(fields)) as Form;

/** Authenticates, and tells what it cost: digests, and compares of how many bytes each. */
function costOf(fields: Readonly<Record<string, string>>, authorization?: string) {
  vi.mocked(crypto.createHmac).mockClear();
  vi.mocked(crypto.timingSafeEqual).mockClear();
  const outcome = (() => {
    try {
      return clients.authenticate(formOf(fields), { authorization, source: `192.0.2.${addresses.given++}` }, act).name;
    } catch (error) {
      return (error as Error).message;
    }
  })();
  const compares = vi
    .mocked(crypto.timingSafeEqual)
    .mock.calls.map((buffers) => buffers.map(({ byteLength }) => byteLength));
  return { outcome, digests: vi.mocked(crypto.createHmac).mock.calls.length, compares };
}

beforeEach(() => vi.clearAllMocks());

const REFUSED = 'client authentication failed';
const ONE_COMPARE = { digests: 1, compares: [[32, 32]] };
const LONG = 'x'.repeat(10_000);

describe('a client that proves itself', () => {
  test.each([
    ['in the body', { client_id: 'console', client_secret: 'made-up-secret' }, undefined, 'console'],
    ['in the header', {}, basic('other', 'p:a%ss +wörd&=1'), 'other'],
    ['by its id alone, where it is public', { client_id: 'app' }, undefined, 'app'],
    ['by its id as its secret too, where it is public', { client_id: 'app', client_secret: 'app' }, undefined, 'app'],
    ['by its id twice in the header, where it is public', {}, basic('app', 'app'), 'app'],
  ])('A-52 %s costs one digest and one compare', (_, fields, authorization, outcome) => {
    expect(costOf(fields as Record<string, string>, authorization)).toEqual({ outcome, ...ONE_COMPARE });
  });
});

describe('a client that fails', () => {
  test.each([
    ['with a wrong secret', { client_id: 'console', client_secret: 'wrong' }, undefined],
    ['with the start of its secret', { client_id: 'console', client_secret: 'made-up-secre' }, undefined],
    ['with a secret of 10,000 characters', { client_id: 'console', client_secret: LONG }, undefined],
    ['without a secret', { client_id: 'console' }, undefined],
    ['because nobody knows it', { client_id: 'nobody', client_secret: 'made-up-secret' }, undefined],
    ['because nobody knows it, without a secret', { client_id: 'nobody' }, undefined],
    ['because it has a name of every object', { client_id: '__proto__', client_secret: 'x' }, undefined],
    ['without an id', { client_secret: 'made-up-secret' }, undefined],
    ['without anything', {}, undefined],
    ['as a public one with a secret', { client_id: 'app', client_secret: 'x' }, undefined],
    ['in the header with a wrong secret', {}, basic('console', 'wrong')],
    ['in the header because nobody knows it', {}, basic('nobody', 'made-up-secret')],
  ])('N-10 %s is told the same, at the cost of one that proves itself', (_, fields, authorization) => {
    expect(costOf(fields as Record<string, string>, authorization)).toEqual({ outcome: REFUSED, ...ONE_COMPARE });
  });
});
