import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, test } from 'vitest';
import { areCurrent } from '../../../../src/data-age.ts';
import { newKeyData } from '../../../../src/oauth/keys/signing-key-data.ts';
import { createSigningKeys, type SigningKeys } from '../../../../src/oauth/keys/signing-keys.ts';
import { createAuditLines, createSecurityEvents } from '../../../../src/observability/security-events.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { MemorySecrets } from '../memory-secrets.ts';
import { KEYS_SECRET, keyData, keyOptions, until } from '../test-server.ts';

type Data = Readonly<Record<string, Buffer>>;

const stop = new AbortController();
const running: Promise<void>[] = [];

afterAll(async () => {
  stop.abort();
  await Promise.all(running);
});

/** A second key, made once. */
const otherData = newKeyData(Date.parse('2026-03-09T09:30:00Z'), systemRandom);

function start(secrets: MemorySecrets) {
  const clock = new FakeClock();
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const registry = new Registry();
  const events = createSecurityEvents(createAuditLines(logger), registry);
  const keys = createSigningKeys(keyOptions, { secrets, clock, random: systemRandom, logger, registry, events });
  running.push(keys.run(stop.signal));
  return { keys, clock, lines, registry };
}

async function loaded(data: Data) {
  const secrets = new MemorySecrets();
  secrets.put(KEYS_SECRET, data);
  const started = start(secrets);
  await until(() => started.keys.fault() === undefined);
  return { ...started, secrets };
}

const entryOf = (data: Data): Record<string, unknown> => JSON.parse(data['keys.json']?.toString() ?? '').keys[0];
const withKeys = (data: Data, keys: unknown): Data => ({ ...data, 'keys.json': Buffer.from(JSON.stringify({ keys })) });
const kidsOf = (keys: SigningKeys): string[] => keys.publicKeys().map((key) => key.kid);

describe('signing keys', () => {
  test('are made once when there is no Secret, and said to be not ready before', async () => {
    const secrets = new MemorySecrets();
    const { keys, clock } = start(secrets);
    const isCurrent = () => areCurrent(keys.copies, clock.monotonic());
    expect([keys.fault(), isCurrent()]).toEqual(['the signing keys are not loaded yet', false]);
    expect([keys.publicKeys(), keys.signingKey(), keys.verificationKey('k'), keys.digestKey(), keys.stored()]).toEqual([
      [],
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    await until(() => keys.fault() === undefined);
    expect([secrets.creates, isCurrent()]).toEqual([1, true]);
    expect(Object.keys(secrets.stored.get(KEYS_SECRET)?.data ?? {})).toEqual(['keys.json', 'digest-key']);
    expect(keys.signingKey()?.kid).toBe(kidsOf(keys)[0]);
  });

  test('are said to be not followed before their watch has proven them', async () => {
    const secrets = new MemorySecrets();
    secrets.proof.at = Number.NEGATIVE_INFINITY;
    const { keys, clock } = start(secrets);
    const isCurrent = () => areCurrent(keys.copies, clock.monotonic());
    await until(() => keys.fault() !== 'the signing keys are not loaded yet');
    expect([keys.fault(), isCurrent()]).toEqual(['the signing keys are not followed yet', false]);
    secrets.proof.at = 0;
    expect([keys.fault(), isCurrent()]).toEqual([undefined, true]);
  });

  test('R-05 are the same for replicas that start together', async () => {
    const secrets = new MemorySecrets();
    const replicas = [start(secrets), start(secrets), start(secrets)];
    await until(() => replicas.every(({ keys }) => keys.fault() === undefined));
    expect(new Set(replicas.flatMap(({ keys }) => kidsOf(keys))).size).toBe(1);
    expect(new Set(replicas.map(({ keys }) => keys.digestKey()?.toString('hex'))).size).toBe(1);
  });

  test('are made later when the cluster is away at first', async () => {
    const secrets = new MemorySecrets();
    secrets.fault = new Error('the cluster is away');
    const { keys, clock, lines } = start(secrets);
    await until(() => clock.pendingTimers === 1);
    secrets.fault = undefined;
    await clock.advance(1_600); // 0.8 s and as much as jitter at most
    await until(() => keys.fault() === undefined);
    expect(lines.map((line) => line['msg'])).toEqual([
      'cannot create the signing keys yet',
      'there was no signing key: one was made',
    ]);
  });

  test.each<[string, (data: Data) => Data, string]>([
    ['has no keys', ({ 'digest-key': digest = Buffer.of() }) => ({ 'digest-key': digest }), 'keys.json is missing'],
    ['is not JSON', (data) => ({ ...data, 'keys.json': Buffer.from('{') }), 'keys.json is missing or not a list'],
    ['has no digest key', (data) => ({ 'keys.json': data['keys.json'] ?? Buffer.of() }), 'digest-key is missing'],
    ['has a short digest key', (data) => ({ ...data, 'digest-key': Buffer.alloc(8) }), 'digest-key is missing'],
    ['has no active key', (data) => withKeys(data, [{ ...entryOf(data), state: 'next' }]), 'exactly one active key'],
    ['has two active keys', (data) => withKeys(data, [entryOf(data), entryOf(data)]), 'exactly one active key'],
    [
      'lists a key twice',
      (data) => withKeys(data, [entryOf(data), { ...entryOf(data), state: 'verify-only' }]),
      'a key is listed twice',
    ],
    [
      'has an unknown state',
      (data) => withKeys(data, [{ ...entryOf(data), state: 'retired' }]),
      'keys.json is missing or',
    ],
    [
      'has a key of another type',
      (data) => withKeys(data, [{ ...entryOf(data), jwk: { kty: 'oct', k: 'AA' } }]),
      'keys.json',
    ],
  ])('C-39 stay not ready, and are never replaced, when the Secret %s', async (_, change, reason) => {
    const secrets = new MemorySecrets();
    const broken = secrets.put(KEYS_SECRET, change(await keyData));
    const { keys, lines } = start(secrets);
    await until(() => lines.length > 0);
    expect(keys.fault()).toContain(reason);
    expect(lines).toMatchObject([{ secret: KEYS_SECRET, lastGoodInUse: false }]);
    expect([secrets.creates, secrets.stored.get(KEYS_SECRET)]).toEqual([0, broken]);
    secrets.put(KEYS_SECRET, await keyData);
    await until(() => keys.fault() === undefined);
  });

  test('C-39 stay in memory, and no new ones are made, when the Secret is deleted', async () => {
    const { keys, secrets, lines } = await loaded(await keyData);
    const before = kidsOf(keys);
    secrets.remove(KEYS_SECRET);
    await until(() => lines.length > 0);
    expect([kidsOf(keys), keys.fault(), secrets.creates]).toEqual([before, undefined, 0]);
    expect(keys.stored()).toBeUndefined();
  });

  test('C-39 stay in use when the Secret is broken later', async () => {
    const { keys, secrets, lines } = await loaded(await keyData);
    secrets.put(KEYS_SECRET, {});
    await until(() => lines.length > 0);
    expect([keys.fault(), keys.signingKey()?.kid]).toEqual([undefined, kidsOf(keys)[0]]);
    expect(lines).toMatchObject([{ secret: KEYS_SECRET, lastGoodInUse: true }]);
    expect(keys.stored()).toBeUndefined();
    secrets.put(KEYS_SECRET, await keyData);
    await until(() => keys.stored()?.length === 1);
  });

  test('C-39 go on verifying when they vanish from the Secret, and after further changes too', async () => {
    const { keys, secrets } = await loaded(await keyData);
    const [gone = ''] = kidsOf(keys);
    secrets.put(KEYS_SECRET, await otherData);
    await until(() => kidsOf(keys).length === 2);
    secrets.put(KEYS_SECRET, await otherData);
    const list = keys.publicKeys();
    await until(() => keys.publicKeys() !== list);
    expect([keys.verificationKey(gone)?.type, keys.signingKey(gone)]).toEqual(['public', undefined]);
  });

  test('are published in state next, active and verify-only, and sign in state active', async () => {
    const [first, second] = [await keyData, await otherData];
    const { keys } = await loaded(withKeys(first, [{ ...entryOf(first), state: 'next' }, entryOf(second)]));
    expect(kidsOf(keys)).toHaveLength(2);
    expect(keys.signingKey()?.kid).toBe(kidsOf(keys)[1]);
  });

  test('in state revoked are not published, verify nothing and sign nothing', async () => {
    const [first, second] = [await keyData, await otherData];
    const { keys } = await loaded(first);
    const kid = kidsOf(keys)[0] ?? '';
    const { keys: after } = await loaded(withKeys(first, [{ ...entryOf(first), state: 'revoked' }, entryOf(second)]));
    expect(kidsOf(after)).not.toContain(kid);
    expect([after.verificationKey(kid), after.signingKey(kid)]).toEqual([undefined, undefined]);
  });

  test('in state verify-only may have lost their private part', async () => {
    const [first, second] = [await keyData, await otherData];
    const { jwk } = entryOf(first) as { jwk: Record<string, unknown> };
    const retired = { ...entryOf(first), state: 'verify-only', jwk: { kty: 'RSA', n: jwk['n'], e: jwk['e'] } };
    const { keys } = await loaded(withKeys(first, [retired, entryOf(second)]));
    const kid = kidsOf(keys)[0] ?? '';
    expect([keys.verificationKey(kid)?.type, keys.signingKey(kid)]).toEqual(['public', undefined]);
  });

  test('show their states and ages as metrics', async () => {
    const { keys, registry } = await loaded(await keyData);
    const kid = kidsOf(keys)[0];
    expect(await registry.metrics()).toContain(`gatehouse_signing_key_info{kid="${kid}",state="active"} 1`);
    expect(await registry.metrics()).toContain(`gatehouse_signing_key_age_seconds{kid="${kid}"} 3600`);
  });

  test('appear in no log line', async () => {
    const { lines, secrets } = await loaded(await keyData);
    secrets.put(KEYS_SECRET, withKeys(await keyData, [{ ...entryOf(await keyData), state: 'odd' }]));
    await until(() => lines.length > 0);
    const { jwk } = entryOf(await keyData) as { jwk: { d: string; p: string } };
    const log = JSON.stringify(lines);
    expect([log.includes(jwk.d), log.includes(jwk.p)]).toEqual([false, false]);
  });
});
