import { describe, expect, test } from 'vitest';
import { KeyOperator } from '../../../../src/oauth/keys/key-operator.ts';
import { newKey, readKeyData, type StoredKey, withKeys } from '../../../../src/oauth/keys/signing-key-data.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { MemorySecrets } from '../memory-secrets.ts';
import { KEYS_SECRET, keyData, keyOptions, until } from '../test-server.ts';

const MADE = Date.parse('2026-03-09T09:00:00Z');
const MINUTE = 60_000;

/** Made once: each takes a tenth of a second. */
const spares = [newKey('next', MADE), newKey('verify-only', MADE)] as const;

/** With the key of 09:00 active; it is 10:00. */
async function start(change: (active: StoredKey) => Promise<readonly StoredKey[]> = async (active) => [active]) {
  const secrets = new MemorySecrets();
  const clock = new FakeClock();
  const printed: string[] = [];
  const operator = new KeyOperator(keyOptions, { secrets, clock, print: (line) => void printed.push(line) });
  const data = await keyData;
  const read = await readKeyData(data);
  if ('fault' in read) throw new Error(read.fault);
  const given = await change(read.active);
  secrets.put(KEYS_SECRET, await withKeys(data, given));
  return { secrets, clock, printed, operator, given, active: read.active.kid };
}

async function stored(secrets: MemorySecrets): Promise<readonly StoredKey[]> {
  const read = await readKeyData(secrets.stored.get(KEYS_SECRET)?.data ?? {});
  if ('fault' in read) throw new Error(read.fault);
  return read.keys;
}

const statesOf = async (secrets: MemorySecrets): Promise<readonly string[]> =>
  (await stored(secrets)).map(({ state }) => state);

const withNext = async (active: StoredKey) => [active, await spares[0]];

describe('keys list', () => {
  test('prints kid, state, since when and age of every key, and nothing else of them', async () => {
    const { operator, printed, given } = await start(async (active) => [active, await spares[0], await spares[1]]);
    await operator.list();
    const [first, second, third] = given.map(({ kid }) => kid);
    expect(printed).toEqual([
      `KID${' '.repeat(40)}  STATE        SINCE                 AGE`,
      `${first}  active       2026-03-09T09:00:00Z  60m`,
      `${second}  next         2026-03-09T09:00:00Z  60m`,
      `${third}  verify-only  2026-03-09T09:00:00Z  60m`,
    ]);
  });

  test.each([
    [119_000, '119s'],
    [120_000, '2m'],
    [7_200_000, '2h'],
    [47 * 3_600_000, '47h'],
    [30 * 86_400_000, '30d'],
    [-5_000, '0s'],
  ])('shows an age of %i ms as %s', async (ageMs, text) => {
    const { operator, printed } = await start(async (active) => [
      { ...active, sinceMs: new FakeClock().now() - ageMs },
    ]);
    await operator.list();
    expect(printed[1]?.endsWith(`Z  ${text}`)).toBe(true);
  });
});

describe('keys rotate', () => {
  test('publishes the next key and says when it will be active', async () => {
    const { operator, secrets, printed } = await start();
    await operator.rotate();
    expect(await statesOf(secrets)).toEqual(['active', 'next']);
    expect(printed).toEqual([
      `published the next signing key ${(await stored(secrets))[1]?.kid}`,
      'a replica makes it the active one at 2026-03-09T10:15:00Z, or a minute later',
    ]);
  });

  test('leaves one that is published already', async () => {
    const { operator, secrets, printed, given } = await start(withNext);
    await operator.rotate();
    expect(await stored(secrets)).toHaveLength(2);
    expect(printed[0]).toBe(`the next signing key ${given[1]?.kid} was published before`);
  });
});

describe('keys rotate --now', () => {
  test('activates the next key at once, without a warning when it was published long enough ago', async () => {
    const { operator, secrets, printed, given } = await start(withNext);
    await operator.rotateNow();
    expect(await statesOf(secrets)).toEqual(['verify-only', 'active']);
    expect(printed.slice(1)).toEqual([`the signing key ${given[1]?.kid} signs from now on`]);
  });

  test('warns of cached keys when the key was published a minute ago', async () => {
    const { operator, clock, printed } = await start(async (active) => [
      active,
      { ...(await spares[0]), sinceMs: new FakeClock().now() - MINUTE },
    ]);
    expect(clock.pendingTimers).toBe(0);
    await operator.rotateNow();
    expect(printed.at(-1)).toBe(
      'a verifier that has cached /oauth/keys from before may refuse its tokens for up to 5 minutes',
    );
  });

  test('does not wait for a key that was published 5 s ago: every replica knows it', async () => {
    const { operator, printed, given } = await start(async (active) => [
      active,
      { ...(await spares[0]), sinceMs: new FakeClock().now() - 5_000 },
    ]);
    const rotated = operator.rotateNow();
    await until(() => printed.length > 1);
    expect(printed[1]).toBe(`the signing key ${given[1]?.kid} signs from now on`);
    await rotated;
  });

  test('waits 5 s at most for a key that was published by a clock ahead of ours', async () => {
    const { operator, clock, printed } = await start(async (active) => [
      active,
      { ...(await spares[0]), sinceMs: new FakeClock().now() + 60 * MINUTE },
    ]);
    const rotated = operator.rotateNow();
    await until(() => clock.pendingTimers === 1);
    await clock.advance(5_000);
    await rotated;
    expect(printed[1]).toBe('waiting until every replica knows it');
  });

  test('warns of no cached keys when the key was published 15 minutes ago', async () => {
    const { operator, printed, given } = await start(async (active) => [
      active,
      { ...(await spares[0]), sinceMs: new FakeClock().now() - 15 * MINUTE },
    ]);
    await operator.rotateNow();
    expect(printed.at(-1)).toBe(`the signing key ${given[1]?.kid} signs from now on`);
  });

  test('publishes one first when there is none, and waits 5 s so that every replica knows it', async () => {
    const { operator, secrets, clock, printed, active } = await start();
    const rotated = operator.rotateNow();
    await until(() => clock.pendingTimers === 1);
    expect(await statesOf(secrets)).toEqual(['active', 'next']);
    await clock.advance(4_999);
    expect(await statesOf(secrets)).toEqual(['active', 'next']);
    await clock.advance(1);
    await rotated;
    const keys = await stored(secrets);
    expect(keys.map(({ kid, state }) => [kid === active, state])).toEqual([
      [true, 'verify-only'],
      [false, 'active'],
    ]);
    expect(printed).toContain('waiting until every replica knows it');
  });

  test('activates nothing else when the key is active by then', async () => {
    const { operator, secrets, clock } = await start();
    const rotated = operator.rotateNow();
    await until(() => clock.pendingTimers === 1);
    const [former, next] = (await stored(secrets)) as [StoredKey, StoredKey];
    const keys = [{ ...former, state: 'verify-only' } as const, { ...next, state: 'active' } as const];
    secrets.put(KEYS_SECRET, await withKeys(await keyData, keys));
    await clock.advance(5_000);
    await rotated;
    expect(await stored(secrets)).toHaveLength(2);
  });

  test('C-36 takes a write whose answer was lost for made', async () => {
    const { operator, secrets } = await start(withNext);
    secrets.loseAnswers = 1;
    await operator.rotateNow();
    expect(await statesOf(secrets)).toEqual(['verify-only', 'active']);
  });
});

describe('keys revoke', () => {
  test('refuses the active key and makes a new one active, in one write', async () => {
    const { operator, secrets, printed, active } = await start();
    const version = Number(secrets.stored.get(KEYS_SECRET)?.version);
    await operator.revoke(active);
    expect(Number(secrets.stored.get(KEYS_SECRET)?.version)).toBe(version + 1);
    const keys = await stored(secrets);
    expect(keys.map(({ state, privateKey }) => [state, privateKey?.type])).toEqual([
      ['revoked', undefined],
      ['active', 'private'],
    ]);
    expect(printed).toEqual([
      `revoked the signing key ${active}`,
      'within seconds every replica refuses its tokens',
      `the signing key ${keys[1]?.kid} signs`,
    ]);
  });

  test('makes the next key active when there is one', async () => {
    const { operator, secrets, active } = await start(withNext);
    await operator.revoke(active);
    expect(await statesOf(secrets)).toEqual(['revoked', 'active']);
  });

  test.each([
    [0, 'next'],
    [1, 'verify-only'],
  ] as const)('refuses another key and leaves the active one', async (spare, state) => {
    const { operator, secrets, active } = await start(async (key) => [key, await spares[spare]]);
    expect(await statesOf(secrets)).toEqual(['active', state]);
    await operator.revoke((await spares[spare]).kid);
    expect(await statesOf(secrets)).toEqual(['active', 'revoked']);
    expect((await stored(secrets))[0]?.kid).toBe(active);
  });

  test('C-36 may be repeated', async () => {
    const { operator, secrets, printed, active } = await start();
    await operator.revoke(active);
    const once = secrets.stored.get(KEYS_SECRET);
    await operator.revoke(active);
    expect(secrets.stored.get(KEYS_SECRET)).toBe(once);
    expect(printed[3]).toBe(`the signing key ${active} was revoked before`);
  });

  test('refuses a kid that is not listed', async () => {
    const { operator, secrets } = await start();
    const before = secrets.stored.get(KEYS_SECRET);
    await expect(operator.revoke('zzz')).rejects.toMatchObject({
      name: 'UnknownKeyError',
      message: 'there is no signing key "zzz"; gatehouse keys list names them all',
    });
    expect(secrets.stored.get(KEYS_SECRET)).toBe(before);
  });
});

describe('every command', () => {
  test('decides anew by what it finds when somebody else was first', async () => {
    const { operator, secrets, active } = await start();
    secrets.beforeUpdate = async () => {
      const read = await stored(secrets);
      secrets.put(KEYS_SECRET, await withKeys(await keyData, [...read, await spares[0]]));
    };
    await operator.revoke(active);
    expect(await statesOf(secrets)).toEqual(['revoked', 'active']);
    expect((await stored(secrets))[1]?.kid).toBe((await spares[0]).kid);
  });

  test('C-39 makes no Secret where there is none', async () => {
    const { operator, secrets } = await start();
    secrets.remove(KEYS_SECRET);
    for (const command of [operator.list(), operator.rotate(), operator.rotateNow(), operator.revoke('a')])
      await expect(command).rejects.toThrow(`there is no Secret ${KEYS_SECRET}`);
    expect(secrets.stored.size).toBe(0);
  });

  test('C-39 leaves a Secret that cannot be used', async () => {
    const { operator, secrets } = await start();
    const broken = secrets.put(KEYS_SECRET, {});
    await expect(operator.rotate()).rejects.toThrow(`the Secret ${KEYS_SECRET} cannot be used: digest-key is missing`);
    expect(secrets.stored.get(KEYS_SECRET)).toBe(broken);
  });
});
