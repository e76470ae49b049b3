import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, test } from 'vitest';
import { createKeyRotator } from '../../../../src/oauth/keys/key-rotator.ts';
import { newKey, readKeyData, type StoredKey, withKeys } from '../../../../src/oauth/keys/signing-key-data.ts';
import { createSigningKeys } from '../../../../src/oauth/keys/signing-keys.ts';
import { createAuditLines, createSecurityEvents } from '../../../../src/observability/security-events.ts';
import { type Random, systemRandom } from '../../../../src/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { MemorySecrets } from '../memory-secrets.ts';
import { KEYS_SECRET, keyData, keyOptions, until } from '../test-server.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Keys are made at 09:00, the clock begins at 10:00. */
const BEFORE_PUBLICATION = 30 * DAY - 60 * MINUTE - 18 * MINUTE;

const stop = new AbortController();
const running: Promise<void>[] = [];

afterAll(async () => {
  stop.abort();
  await Promise.all(running);
});

/** The longest wait between two looks, unless it says otherwise. */
const random = (fraction = 0): Random => ({ ...systemRandom, fraction: () => fraction });

/** One replica's keys and rotator. */
function replica(secrets: MemorySecrets, clock: FakeClock, fraction = 0) {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const registry = new Registry();
  const events = createSecurityEvents(createAuditLines(logger), registry);
  const parts = { secrets, clock, random: random(fraction), logger, registry, events };
  const keys = createSigningKeys(keyOptions, parts);
  const rotator = createKeyRotator(keyOptions, { ...parts, keys });
  running.push(keys.run(stop.signal), rotator.run(stop.signal));
  return { keys, registry, lines, events: () => lines.filter(({ event }) => event !== undefined) };
}

async function start(replicas = 1, fractions: readonly number[] = []) {
  const secrets = new MemorySecrets();
  secrets.put(KEYS_SECRET, await keyData);
  const clock = new FakeClock();
  const all = Array.from({ length: replicas }, (_, index) => replica(secrets, clock, fractions[index]));
  await until(() => all.every(({ keys }) => keys.fault() === undefined));
  const [one] = all as [ReturnType<typeof replica>];
  return { secrets, clock, all, one };
}

async function storedKeys(secrets: MemorySecrets): Promise<readonly StoredKey[]> {
  const read = await readKeyData(secrets.stored.get(KEYS_SECRET)?.data ?? {});
  if ('fault' in read) throw new Error(read.fault);
  return read.keys;
}

const statesOf = async (secrets: MemorySecrets): Promise<string[]> =>
  (await storedKeys(secrets)).map(({ state }) => state);

/** Looks once, and waits for what the look does in the thread pool. */
async function look(clock: FakeClock, isSo: () => boolean | Promise<boolean>): Promise<void> {
  await clock.advance(75_000);
  for (let turn = 0; turn < 5_000 && !(await isSo()); turn++) await new Promise((resolve) => setTimeout(resolve, 1));
  if (!(await isSo())) throw new Error('the look did not do it');
}

describe('the rotator', () => {
  test('R-05 publishes, activates, drops the private part and removes, and every replica follows', async () => {
    const { secrets, clock, all, one } = await start(3, [0, 0.3, 0.9]);
    const kids = () => all.map(({ keys }) => keys.publicKeys().length);
    const first = one.keys.signingKey()?.kid ?? '';
    clock.jumpWall(BEFORE_PUBLICATION);
    expect(await statesOf(secrets)).toEqual(['active']);
    await look(clock, () => kids().join() === '2,2,2');
    expect(await statesOf(secrets)).toEqual(['active', 'next']);
    expect(one.keys.signingKey()?.kid).toBe(first);
    clock.jumpWall(14 * MINUTE);
    await look(clock, () => all.every(({ keys }) => keys.signingKey()?.kid !== first));
    expect(await statesOf(secrets)).toEqual(['verify-only', 'active']);
    expect(all.map(({ keys }) => keys.signingKey(first)?.kid)).toEqual([first, first, first]);
    await look(clock, () => true);
    await look(clock, () => all.every(({ keys }) => keys.signingKey(first) === undefined));
    expect((await storedKeys(secrets)).map(({ privateKey }) => privateKey?.type)).toEqual([undefined, 'private']);
    expect(all.map(({ keys }) => keys.verificationKey(first)?.type)).toEqual(['public', 'public', 'public']);
    clock.jumpWall(14_300_000);
    await look(clock, () => kids().join() === '1,1,1');
    expect(await statesOf(secrets)).toEqual(['active']);
    expect(all.map(({ keys }) => keys.verificationKey(first))).toEqual([undefined, undefined, undefined]);
  });

  test('R-05 of several replicas that look at one moment changes the keys once', async () => {
    const { secrets, clock, all } = await start(3);
    clock.jumpWall(BEFORE_PUBLICATION);
    await look(clock, () => all.every(({ keys }) => keys.publicKeys().length === 2));
    await clock.advance(75_000);
    expect(await statesOf(secrets)).toEqual(['active', 'next']);
    expect(all.flatMap(({ lines }) => lines.filter(({ level }) => level !== 30))).toEqual([]);
  });

  test('asks nothing of the cluster while nothing is due', async () => {
    const { secrets, clock } = await start();
    secrets.fault = new Error('the cluster is away');
    clock.jumpWall(29 * DAY);
    await clock.advance(150_000);
    expect(await statesOf(secrets)).toEqual(['active']);
  });

  test('tries again at the next look when a write fails, and counts the failure', async () => {
    const { secrets, clock, one } = await start();
    clock.jumpWall(BEFORE_PUBLICATION);
    secrets.fault = new Error('the cluster is away');
    await look(clock, () => one.lines.length > 0);
    expect(one.lines[0]).toMatchObject({ secret: KEYS_SECRET, msg: 'cannot change the signing keys yet' });
    expect(await one.registry.metrics()).toContain('gatehouse_signing_key_rotation_failures_total 1');
    secrets.fault = undefined;
    await look(clock, () => one.keys.publicKeys().length === 2);
  });

  test('C-36 takes a write whose answer was lost for made', async () => {
    const { secrets, clock, one } = await start();
    clock.jumpWall(BEFORE_PUBLICATION);
    secrets.loseAnswers = 1;
    await look(clock, () => one.keys.publicKeys().length === 2);
    await look(clock, () => true);
    expect(await statesOf(secrets)).toEqual(['active', 'next']);
    expect(await one.registry.metrics()).toContain('gatehouse_signing_key_rotation_failures_total 0');
  });

  test.each<[string, (secrets: MemorySecrets) => void, string]>([
    ['gone', (secrets) => secrets.remove(KEYS_SECRET), 'signing_keys_missing'],
    ['broken', (secrets) => void secrets.put(KEYS_SECRET, {}), 'signing_keys_unusable'],
  ])('C-39 makes no key while the Secret is %s', async (_, change, event) => {
    const { secrets, clock, one } = await start();
    change(secrets);
    const left = secrets.stored.get(KEYS_SECRET);
    await until(() => one.events().length > 0);
    clock.jumpWall(40 * DAY);
    await clock.advance(150_000);
    expect(one.events().map((line) => line['event'])).toEqual([event]);
    expect([secrets.creates, secrets.stored.get(KEYS_SECRET)]).toEqual([0, left]);
  });

  test('C-39 makes none either when it finds only at the write that the Secret is gone', async () => {
    const { secrets, clock, one } = await start();
    clock.jumpWall(BEFORE_PUBLICATION);
    secrets.stored.delete(KEYS_SECRET); // and the watch has not told it yet
    await look(clock, () => one.lines.length > 0);
    expect(one.lines[0]).toMatchObject({ err: { message: `there is no Secret ${KEYS_SECRET}` } });
    expect([secrets.creates, secrets.stored.size]).toEqual([0, 0]);
  });

  test('leaves what else is in the Secret', async () => {
    const { secrets, clock, one } = await start();
    const digest = one.keys.digestKey();
    secrets.put(KEYS_SECRET, { ...(await keyData), note: Buffer.from('ours') });
    clock.jumpWall(BEFORE_PUBLICATION);
    await look(clock, () => one.keys.publicKeys().length === 2);
    expect(secrets.stored.get(KEYS_SECRET)?.data['note']?.toString()).toBe('ours');
    expect(one.keys.digestKey()).toEqual(digest);
  });

  test('shows when the next rotation is due', async () => {
    const { secrets, clock, one } = await start();
    const due = async (): Promise<string | undefined> =>
      /^gatehouse_signing_key_rotation_due_seconds (.*)$/m.exec(await one.registry.metrics())?.[1];
    expect(await due()).toBe(String(30 * 86_400 - 3600));
    clock.jumpWall(BEFORE_PUBLICATION);
    await look(clock, () => one.keys.publicKeys().length === 2);
    const [, next] = await storedKeys(secrets);
    expect(await due()).toBe(String(900 - (clock.now() - (next?.sinceMs ?? 0)) / 1000));
  });
});

describe('the pause between two looks', () => {
  test.each([
    [0, 75_000],
    [0.5, 60_000],
    [1, 45_000],
  ])('with a random number of %d is %i ms, and nothing is looked at once we stop', async (fraction, pauseMs) => {
    const clock = new FakeClock();
    const [stopped, looks] = [new AbortController(), [] as number[]];
    const keys = { stored: () => void looks.push(clock.monotonic()) };
    const parts = { keys, clock, random: random(fraction), secrets: new MemorySecrets() };
    const { run } = createKeyRotator(keyOptions, { ...parts, logger: pino(), registry: new Registry() });
    const ended = run(stopped.signal);
    await clock.advance(3 * pauseMs - 1);
    expect(looks).toEqual([pauseMs, 2 * pauseMs]);
    stopped.abort();
    await ended;
    expect(looks).toHaveLength(2);
  });
});

describe('what happens to the signing keys', () => {
  test('is told as security events, by kid', async () => {
    const { secrets, one } = await start();
    const [active] = await storedKeys(secrets);
    const next = await newKey('next', Date.parse('2026-03-09T09:30:00Z'));
    const store = async (count: number, keys: readonly (StoredKey | undefined)[]) => {
      const listed = keys.filter((key) => key !== undefined);
      secrets.put(KEYS_SECRET, await withKeys(secrets.stored.get(KEYS_SECRET)?.data ?? {}, listed));
      await until(() => one.events().length === count);
      return one.events().at(-1);
    };
    const [old, now] = [active?.kid, next.kid];
    const retired = active && ({ ...active, state: 'verify-only' } as const);
    const activated = { ...next, state: 'active' } as const;
    expect(await store(1, [active, next])).toMatchObject({ event: 'signing_key_published', kid: now });
    expect(await store(2, [retired, activated])).toMatchObject({
      event: 'signing_key_activated',
      kid: now,
      instead: old,
    });
    expect(await store(3, [activated])).toMatchObject({ event: 'signing_key_retired', kid: old });
    const third = await newKey('active', next.sinceMs);
    expect(await store(5, [{ ...next, state: 'revoked' }, third])).toMatchObject({ event: 'signing_key_activated' });
    expect(one.events().at(-2)).toMatchObject({ event: 'signing_key_revoked', kid: now });
    const fourth = await newKey('active', next.sinceMs);
    expect(await store(7, [fourth])).toMatchObject({ event: 'signing_keys_missing', kids: [third.kid] });
  });
});
