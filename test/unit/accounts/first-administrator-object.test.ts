import { describe, expect, test } from 'vitest';
import { createFirstAdministratorObject } from '../../../src/accounts/directory/first-administrator-object.ts';
import { createStatusPatch } from '../../../src/accounts/states/status-patch.ts';
import type { User } from '../../../src/users/user.ts';
import { MemoryObjects } from '../../support/accounts/memory-objects.ts';
import { MemoryUserRecords, NAMES, userRecord } from '../../support/accounts/memory-user-records.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const HASH = 'made-up-hash';
const ADMIN: User = { name: 'admin', uid: 'derived', groups: ['admins'], passwordHash: HASH, state: 'Active' };

function start({ isTaken = false, hasStatus = true, roleFailure = undefined as Error | undefined } = {}) {
  const clock = new FakeClock();
  const users = new MemoryUserRecords();
  const objects = new MemoryObjects();
  objects.hasStatus = hasStatus;
  objects.onChange = (name, object) => (object ? users.putObject(object) : users.delete(name));
  const passwords: unknown[] = [];
  const state = { admin: ADMIN as User | undefined, isKnown: true, isRead: true, areRolesKnown: true };
  const [marks, lines] = [[] as string[], [] as string[]];
  const logger = {
    info: (_: object, line: string) => void lines.push(line),
    warn: (_: object, line: string) => void lines.push(line),
    debug: () => {},
  } as never;
  const roles: unknown[] = [];
  const made = createFirstAdministratorObject({
    ...{ names: NAMES, users, objects, clock, logger, patchStatus: createStatusPatch(objects) },
    administrator: () => state.admin,
    takenOver: async (uid) => {
      marks.push(uid);
      state.admin = undefined;
    },
    isTaken: () => isTaken,
    giveRole: async ({ name, groups }) => {
      roles.push({ name, groups, marks: marks.length, isIncomplete: users.get(name)?.isIncomplete });
      if (roleFailure) throw roleFailure;
    },
    areRolesKnown: () => state.areRolesKnown,
    isKnown: () => state.isKnown,
    isRead: () => state.isRead,
    passwords: { set: async (owner, hash) => void passwords.push([owner, hash, users.get('admin')?.isIncomplete]) },
  });
  const run = (): void => {
    const stop = new AbortController();
    const running = made.run(stop.signal);
    atEnd(async () => {
      stop.abort();
      await running;
    });
  };
  return { clock, users, objects, passwords, roles, state, marks, lines, run, fault: made.fault };
}

describe('the object of the first administrator', () => {
  test('CO-11 gets the role of administrators as soon as it is whole, once roles are known', async () => {
    const { clock, roles, marks, state, run } = start();
    state.areRolesKnown = false;
    run();
    await clock.advance(200);
    expect([roles, marks]).toEqual([[], []]);
    state.areRolesKnown = true;
    await clock.advance(100);
    expect(roles).toEqual([{ name: 'admin', groups: ['admins'], marks: 0, isIncomplete: false }]);
    expect(marks).toHaveLength(1);
  });

  test('CO-11 is there without the role if the cluster refuses it', async () => {
    const { clock, marks, lines, run } = start({ roleFailure: new Error('forbidden') });
    run();
    await clock.advance(100);
    expect(marks).toHaveLength(1);
    expect(lines.at(-1)).toBe('the first administrator did not get the platform role of administrators');
  });

  test.each([true, false])(
    'is made whole, with its password before it is shown (status subresource: %s)',
    async (hasStatus) => {
      const { clock, objects, passwords, marks, lines, run } = start({ hasStatus });
      run();
      await clock.advance(100);
      const { metadata, ...rest } = objects.peek('admin') ?? {};
      expect(rest).toEqual({
        ...{ apiVersion: 'iam.gatehouse.io/v1alpha2', kind: 'User' },
        spec: { email: '', groups: ['admins'] },
        status: { state: 'Active', lastTransitionTime: '2026-03-09T10:00:00Z' },
      });
      expect(metadata).toMatchObject({
        finalizers: ['finalizers.gatehouse.io/users'],
        annotations: {
          'iam.gatehouse.io/uninitialized': 'true',
          'iam.gatehouse.io/last-password-change-time': '2026-03-09T10:00:00Z',
        },
      });
      expect(metadata?.annotations).not.toHaveProperty(['iam.gatehouse.io/incomplete']);
      expect(passwords).toEqual([[{ name: 'admin', uid: metadata?.uid }, HASH, true]]);
      expect(marks).toEqual([metadata?.uid]);
      expect(lines).toEqual(['the first administrator becomes a User object']);
    },
  );

  test('is made when the users are known and the Secret is', async () => {
    const { clock, objects, state, run } = start();
    Object.assign(state, { admin: undefined, isKnown: false, isRead: false });
    run();
    await clock.advance(5000);
    Object.assign(state, { admin: ADMIN, isRead: true });
    await clock.advance(5000);
    expect(objects.writes).toEqual([]);
    state.isKnown = true;
    await clock.advance(1000);
    expect(objects.peek('admin')).toBeDefined();
  });

  test('is settled before anybody is told to be ready, whether there is such a user or not', async () => {
    const waiting = start();
    waiting.state.isRead = false;
    waiting.run();
    await waiting.clock.advance(1000);
    expect(waiting.fault()).toBeDefined();
    Object.assign(waiting.state, { admin: undefined, isRead: true });
    await waiting.clock.advance(100);
    expect(waiting.fault()).toBeUndefined();
    expect(waiting.objects.writes).toEqual([]);
  });

  test('is not made beside another one, nor again after it was deleted', async () => {
    const { clock, users, objects, state, marks, lines, run } = start();
    users.put(userRecord('admin'));
    run();
    await clock.advance(5000);
    users.delete('admin');
    state.admin = ADMIN;
    await clock.advance(5000);
    expect(objects.writes).toEqual([]);
    expect(marks).toEqual([userRecord('admin').uid]);
    expect(lines).toEqual([]);
  });

  test('is not made when the users file has the name', async () => {
    const { clock, objects, run } = start({ isTaken: true });
    run();
    await clock.advance(5000);
    expect(objects.writes).toEqual([]);
  });

  test('is made anew after an object of its name that is being deleted has gone, which never takes the user over', async () => {
    const { clock, users, objects, marks, run, fault } = start();
    users.put(userRecord('admin', { isDeleting: true }));
    run();
    await clock.advance(5000);
    expect([objects.writes, marks, fault()]).toEqual([[], [], undefined]);
    users.delete('admin');
    await clock.advance(1000);
    expect(marks).toEqual([objects.peek('admin')?.metadata.uid]);
  });

  test('is made again when a replica died while it made it', async () => {
    const { clock, users, objects, marks, run, fault } = start();
    users.put(userRecord('admin', { isIncomplete: true }));
    run();
    await clock.advance(100);
    expect(fault()).toBeUndefined();
    await clock.advance(5000);
    expect([objects.writes, marks]).toEqual([[], []]);
    users.delete('admin');
    await clock.advance(1000);
    expect(objects.peek('admin')).toBeDefined();
  });

  test('is tried again while the cluster fails', async () => {
    const { clock, objects, run } = start();
    objects.failure = new Error('away');
    run();
    await clock.advance(5000);
    objects.failure = undefined;
    await clock.advance(1000);
    expect(objects.peek('admin')).toBeDefined();
  });
});
