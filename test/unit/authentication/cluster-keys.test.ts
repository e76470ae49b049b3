import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { TokenKey } from '../../../dev/cluster/token-keys.ts';
import { ClusterKeys } from '../../../src/authentication/cluster-keys.ts';
import { type CompactJws, parseCompactJws, toJwsPart } from '../../../src/oauth/tokens/compact-jws.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const setOf = (...keys: readonly TokenKey[]): object => ({ keys: keys.map(({ jwk }) => jwk) });
const tokenOf = (key: TokenKey): CompactJws => parseCompactJws(key.sign({ sub: 'system:serviceaccount:a:b' }))!;
const junk = (kid: string): CompactJws => parseCompactJws(`${toJwsPart({ alg: 'ES256', kid })}.${toJwsPart({})}.c2ln`)!;

const IN_USE = 'the service account keys of the cluster are in use';
const STAY = 'the service account keys of the cluster cannot be read: the last ones stay in use';
const NONE =
  'the service account keys of the cluster cannot be read: it is asked about every token that looks like one of its own';
const AGAIN = 'the service account keys of the cluster are read again';

/** A token under a good name, with a bad signature. */
const forged = (key: TokenKey): CompactJws => ({ ...tokenOf(key), signature: Buffer.alloc(132, 1) });

/** Keys that are followed from a scripted cluster: what it publishes, or an error, or a promise of either. */
async function follow(published: unknown) {
  const clock = new FakeClock();
  const registry = new Registry();
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg) });
  const cluster = { published, reads: 0 };
  const read = async (): Promise<unknown> => {
    cluster.reads++;
    const document = await cluster.published;
    if (document instanceof Error) throw document;
    return document;
  };
  const keys = new ClusterKeys({ read, clock, logger, registry });
  const stop = new AbortController();
  const running = keys.run(stop.signal);
  await clock.advance(0);
  const check = (jws: CompactJws, source = '192.0.2.1') => keys.check(jws, source);
  const count = async (): Promise<number | undefined> =>
    (await registry.getSingleMetric('gatehouse_service_account_keys')?.get())?.values[0]?.value;
  const end = (): Promise<void> => {
    stop.abort();
    return running;
  };
  return { clock, cluster, check, lines, end, count };
}

const away = new Error('the service account keys was answered 403');

describe('the keys of the cluster', () => {
  const key = new TokenKey('ES256');
  const next = new TokenKey('RS256');

  test('are read at the start, and judge signatures at once', async () => {
    const { cluster, check, lines, count } = await follow(setOf(key));
    expect(check(tokenOf(key))).toBe('good');
    const { header, claims, signingInput } = tokenOf(key);
    expect(check({ header, claims, signingInput, signature: Buffer.alloc(64, 1) })).toBe('bad');
    expect([cluster.reads, lines, await count()]).toEqual([1, [IN_USE], 1]);
  });

  test('are read again each minute, and a change is logged', async () => {
    const { clock, cluster, check, lines, count } = await follow(setOf(key));
    await clock.advance(60_000);
    expect([cluster.reads, lines.length]).toEqual([2, 1]);
    cluster.published = setOf(key, next);
    await clock.advance(59_999);
    expect([cluster.reads, lines.length]).toEqual([2, 1]);
    await clock.advance(1);
    expect([cluster.reads, lines, await count()]).toEqual([3, [IN_USE, IN_USE], 2]);
    expect([check(tokenOf(key)), check(tokenOf(next))]).toEqual(['good', 'good']);
    cluster.published = setOf(next);
    await clock.advance(60_000);
    await clock.advance(60_000); // and once more after it, so that the old name is a known unknown
    expect([check(tokenOf(key)), check(tokenOf(next)), await count()]).toEqual(['bad', 'good', 1]);
  });

  test('are read again as soon as a token names another, which is good when it is published by then', async () => {
    const { clock, cluster, check, lines } = await follow(setOf(key));
    cluster.published = setOf(key, next);
    await clock.advance(5_000);
    const verdict = check(tokenOf(next));
    expect([await verdict, cluster.reads, lines]).toEqual(['good', 2, [IN_USE, IN_USE]]);
    expect(check(tokenOf(key))).toBe('good'); // the old one, meanwhile
  });

  test('that are slow are verified in the thread pool, an address that floods behind itself', async () => {
    const slow = new TokenKey('ES512');
    const { check } = await follow(setOf(key, slow));
    const ended: string[] = [];
    const flood = Array.from({ length: 70 }, async () => {
      const verdict = await check(forged(slow), '192.0.2.2');
      ended.push(verdict);
      return verdict;
    });
    expect(check(tokenOf(key))).toBe('good'); // a fast one waits for nothing
    expect(await check(tokenOf(slow))).toBe('good');
    expect(ended.filter((verdict) => verdict === 'bad').length).toBeLessThan(3);
    expect(await Promise.all(flood)).toEqual([...Array(64).fill('bad'), ...Array(6).fill('overloaded')]);
  });

  test('are read once in 5 s, whatever names junk has', async () => {
    const { clock, cluster, check } = await follow(setOf(key));
    for (let second = 0; second < 60; second++) {
      for (let index = 0; index < 500; index++) {
        const verdict = await check(junk(`${second} ${index}`));
        if (verdict !== 'bad') expect(verdict).toBe('bad');
      }
      await clock.advance(1_000);
    }
    expect(cluster.reads).toBe(12); // at the start, then every 5 s
  });

  test('that are being read are waited for by 64 tokens at most; known keys wait for nothing', async () => {
    const { clock, cluster, check } = await follow(setOf(key));
    await clock.advance(5_000);
    const slow = Promise.withResolvers<object>();
    cluster.published = slow.promise;
    const verdicts = Array.from({ length: 100 }, (_, index) => check(junk(`${index}`)));
    const rest = verdicts.slice(64);
    expect(rest).toEqual(Array(36).fill('overloaded'));
    expect(check(tokenOf(key))).toBe('good');
    await clock.advance(0);
    slow.resolve(setOf(key));
    expect(await Promise.all(verdicts.slice(0, 64))).toEqual(Array(64).fill('bad'));
    expect(cluster.reads).toBe(2);
  });

  test.each<[string, unknown]>([
    ['is no answer', away],
    ['is no set', { kind: 'Status' }],
    ['is empty', { keys: [] }],
    ['has no usable key', { keys: [{ kty: 'oct', kid: 'k' }] }],
  ])(
    'stay in use when what is read %s, which is logged once; a new name is then neither good nor bad',
    async (_, bad) => {
      const { clock, cluster, check, lines, count } = await follow(setOf(key));
      cluster.published = bad;
      await clock.advance(60_000);
      await clock.advance(10_000); // again sooner than usual
      expect([cluster.reads, lines, await count()]).toEqual([3, [IN_USE, STAY], 1]);
      expect(check(tokenOf(key))).toBe('good');
      expect(check(tokenOf(next))).toBe('unavailable'); // tried a moment ago
      await clock.advance(5_000);
      expect(await check(tokenOf(next))).toBe('unavailable'); // tried for it
      cluster.published = setOf(key, next);
      await clock.advance(5_000);
      expect(await check(tokenOf(next))).toBe('good');
      expect(lines).toEqual([IN_USE, STAY, AGAIN, IN_USE]);
    },
  );

  test('that were never read prove nothing, which is logged once, until they come', async () => {
    const { clock, cluster, check, lines, count } = await follow(away);
    expect([check(tokenOf(key)), check(junk('k')), await count()]).toEqual(['unproven', 'unproven', 0]);
    await clock.advance(30_000);
    expect([cluster.reads, lines]).toEqual([4, [NONE]]);
    cluster.published = setOf(key);
    await clock.advance(10_000);
    expect([check(tokenOf(key)), check(junk('k')), lines]).toEqual(['good', 'bad', [NONE, AGAIN, IN_USE]]);
  });

  test('that cannot be used are named in one line, and their tokens refused', async () => {
    const { clock, check, lines } = await follow({ keys: [key.jwk, { ...next.jwk, alg: 'ES256' }] });
    expect(check(tokenOf(next))).toBe('bad');
    await clock.advance(60_000);
    expect(lines).toEqual([IN_USE, 'service account keys of the cluster cannot be used: their tokens are refused']);
  });

  test('let nobody wait any longer when the process stops', async () => {
    const { clock, cluster, check, end } = await follow(setOf(key));
    await clock.advance(5_000);
    const never = Promise.withResolvers<object>();
    cluster.published = never.promise;
    const verdict = check(tokenOf(next));
    await clock.advance(0);
    const ended = end();
    never.reject(new Error('aborted'));
    await ended;
    expect(await verdict).toBe('unavailable');
    expect(clock.pendingTimers).toBe(0);
  });
});
