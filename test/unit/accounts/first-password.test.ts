import { describe, expect, test } from 'vitest';
import { AccountRefusals } from '../../../src/accounts/refusals.ts';
import { createFirstPassword } from '../../../src/accounts/writes/first-password.ts';
import type { UserWriteParts } from '../../../src/accounts/writes/user-writes.ts';
import { MemoryObjects } from '../../support/accounts/memory-objects.ts';
import { NAMES } from '../../support/accounts/memory-user-records.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const REMOVE = { op: 'remove', path: `/metadata/annotations/${NAMES.uninitialized.replace('/', '~1')}` };
const replace = (value: unknown) => ({ op: 'replace', path: '/spec/password', value });
const SECOND = 'Second-one-2';
const MIA = { name: 'mia', uid: 'first' };

function start({ uninitialized = 'true' } = {}) {
  const users = new MemoryObjects();
  const done: string[] = [];
  users.put({ metadata: { ...MIA, resourceVersion: '', annotations: { [NAMES.uninitialized]: uninitialized } } });
  const parts = {
    ...{
      names: NAMES,
      refusals: new AccountRefusals(NAMES),
      objects: users,
      clock: new FakeClock(),
      known: { byName: () => undefined },
    },
    hasher: { hash: async (password: string) => ({ kind: 'ok', hash: `hash of ${password}` }) },
    sessions: { user: async (name: string) => void done.push(`sessions of ${name}`) },
    passwords: { set: async ({ name }: { name: string }, hash: string) => void done.push(`${name}: ${hash}`) },
    roles: { roleOf: () => 'regular' },
  } as unknown as UserWriteParts;
  const set = createFirstPassword(parts);
  const ask = (body: unknown, { caller = MIA, name = 'mia' } = {}) =>
    set(
      { name, body: Buffer.from(JSON.stringify(body)) },
      { ...caller, groups: [], source: '192.0.2.1', trail: {}, signal: new AbortController().signal },
    );
  return { users, done, ask, annotations: () => users.peek('mia')?.metadata.annotations };
}

describe('the first password', () => {
  test('AC-70 is stored after the sessions have ended, and the mark goes', async () => {
    const { ask, done, annotations } = start();
    const { object, role } = await ask([REMOVE, replace(SECOND)]);
    expect([object.metadata.name, role]).toEqual(['mia', 'regular']);
    expect(done).toEqual(['sessions of mia', `mia: hash of ${SECOND}`]);
    expect(annotations()).toEqual({
      [NAMES.lastPasswordChange]: '2026-03-09T10:00:00Z',
      [NAMES.tokensNotBefore]: '2026-03-09T10:00:00Z',
    });
  });

  test('AC-70 can be skipped: the mark goes and nothing else happens', async () => {
    const { ask, done, annotations } = start();
    const { object } = await ask([REMOVE]);
    expect([object.metadata.name, annotations(), done]).toEqual(['mia', {}, []]);
  });

  test('AC-71 is judged by the rules before anything is written', async () => {
    const { ask, users } = start();
    await expect(ask([replace('Has-no-digit'), REMOVE])).rejects.toMatchObject({
      answer: { code: 422, details: { causes: [{ field: 'spec.password' }] } },
    });
    expect(users.writes).toEqual([]);
  });

  test.each([
    ['nothing', []],
    ['a password that leaves the mark', [replace(SECOND)]],
    ['the mark twice', [REMOVE, REMOVE]],
    ['two passwords', [REMOVE, replace(SECOND), replace(SECOND)]],
    ['a password that is no text', [REMOVE, replace(7)]],
    ['another path', [REMOVE, { ...replace(SECOND), path: '/spec/email' }]],
    ['another operation', [{ ...REMOVE, op: 'test' }]],
    ['a password that is added', [REMOVE, { ...replace(SECOND), op: 'add' }]],
    ['what is no operation', [REMOVE, 'x']],
  ])('AC-72 is all that this path takes: not %s', async (_, body) => {
    const { ask, users } = start();
    await expect(ask(body)).rejects.toMatchObject({ answer: { code: 403 } });
    expect(users.writes).toEqual([]);
  });

  test('AC-72 is the caller’s own, of the present life of the name, and asked for', async () => {
    const { ask, users } = start();
    for (const asked of [{ caller: { name: 'joe', uid: 'joe' } }, { caller: { ...MIA, uid: 'earlier' } }])
      await expect(ask([REMOVE], asked)).rejects.toMatchObject({ answer: { code: 403 } });
    const { ask: askAgain } = start({ uninitialized: '' });
    await expect(askAgain([REMOVE])).rejects.toMatchObject({ answer: { code: 403 } });
    await expect(ask({ op: 'remove' })).rejects.toMatchObject({ answer: { code: 400 } });
    expect(users.writes).toEqual([]);
  });

  test('is 503 when the mark cannot be removed', async () => {
    const { ask, users } = start();
    users.failure = new Error('away');
    await expect(ask([REMOVE])).rejects.toMatchObject({ answer: { code: 503 } });
  });
});
