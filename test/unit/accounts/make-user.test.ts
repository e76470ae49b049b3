import { describe, expect, test } from 'vitest';
import { createFirstAdministratorObject } from '../../../src/accounts/directory/first-administrator-object.ts';
import { createExpiry, createKeeper } from '../../../src/accounts/keeper/keeper.ts';
import { createUserRemoval } from '../../../src/accounts/keeper/user-removal.ts';
import { makeUser } from '../../../src/accounts/make-user.ts';
import { UserOperator } from '../../../src/accounts/operator/user-operator.ts';
import { AccountRefusals } from '../../../src/accounts/refusals.ts';
import { createStatusPatch } from '../../../src/accounts/states/status-patch.ts';
import { createUserCreation } from '../../../src/accounts/writes/create-user.ts';
import { createRoleAssignment } from '../../../src/accounts/writes/role-assignment.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import type { User } from '../../../src/users/user.ts';
import { MemoryObjects } from '../../support/accounts/memory-objects.ts';
import { MemoryUserRecords, NAMES } from '../../support/accounts/memory-user-records.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { roleObject } from './mirrored.ts';

const HASH = 'made-up-hash';
const quiet = { info: () => {}, warn: () => {}, debug: () => {} } as never;
const random = { bytes: (length: number) => Buffer.alloc(length), fraction: () => 0 };
const done = async (): Promise<void> => {};

/** A cluster that lets a process make so many changes, and answers nothing to it after that. */
function cluster(lives: number) {
  const [clock, records] = [new FakeClock(), new MemoryUserRecords()];
  const [users, bindings, roles] = [new MemoryObjects(), new MemoryObjects(), new MemoryObjects()];
  const passwords = new Map<string, string>();
  const steps: string[] = [];
  const died = new Error('the process has died');
  const set = (failure: Error | undefined): void => {
    users.failure = failure;
    bindings.failure = failure;
  };
  const changed = (step: string): void => {
    steps.push(step);
    if (steps.length === lives) set(died);
  };
  if (lives === 0) set(died);
  let before: KubernetesObject | undefined;
  users.onChange = (name, object) => {
    if (!object) return records.delete(name);
    records.putObject(object);
    const isIncomplete = records.get(name)?.isIncomplete;
    changed(!before ? 'object' : before['status'] !== object['status'] ? 'state' : isIncomplete ? 'other' : 'whole');
    before = object;
  };
  bindings.onChange = (_, object) => object && changed('role');
  roles.put(roleObject('regular'));
  return {
    ...{ clock, records, users, bindings, roles, steps },
    passwords: {
      set: async ({ uid }: { uid: string }, hash: string): Promise<void> => {
        if (users.failure) throw users.failure;
        passwords.set(uid, hash);
        changed('password');
      },
      remove: async ({ uid }: { uid: string }): Promise<void> => {
        if (users.failure) throw users.failure;
        passwords.delete(uid);
      },
    },
    /** Another replica takes over: its keeper has two minutes. */
    async keep(): Promise<void> {
      users.onChange = (name, object) => (object ? records.putObject(object) : records.delete(name));
      set(undefined);
      const removal = { names: NAMES, objects: users, bindings, loginRecords: new MemoryObjects(), clock };
      const keeper = createKeeper({
        ...{ users: records, clock, random, logger: quiet, isKnown: () => true },
        jobs: {
          removal: createUserRemoval({ ...removal, passwords: this.passwords, ends: { user: done } }),
          expiry: createExpiry(users),
        },
      });
      const stop = new AbortController();
      const running = keeper.run(stop.signal);
      await clock.advance(120_000);
      stop.abort();
      await running;
    },
    left: () => [users.all().length, bindings.all().length, passwords.size],
  };
}

type Stand = ReturnType<typeof cluster>;
const common = ({ users, clock }: Stand) => ({
  names: NAMES,
  objects: users,
  patchStatus: createStatusPatch(users),
  clock,
});

/** A create of the API: as the caller asked. */
async function byTheApi(stand: Stand): Promise<void> {
  const roles = { isAssignable: () => true, bindingsOf: () => [], roleOf: () => undefined };
  const refusals = new AccountRefusals(NAMES);
  const { bindings } = stand;
  const create = createUserCreation({
    ...common(stand),
    refusals,
    ...{ reservedNames: new Set<string>(), roles, passwords: stand.passwords as never, logger: quiet },
    known: { byName: () => undefined, ownersOfEmail: () => [] },
    rivals: { expect: () => ({ wasTaken: async () => false, end: () => {} }) },
    hasher: { hash: async () => ({ kind: 'ok', hash: HASH }) },
    sessions: { user: done, allBut: done },
    // The dry run that comes first is nothing that a crash leaves behind.
    assignment: { ...createRoleAssignment({ names: NAMES, roles, bindings, refusals }), check: done },
    authorizer: { authorize: async () => ({ allowed: true }), forget: () => {} } as never,
    events: { report: () => {} },
  });
  const metadata = { name: 'mia', annotations: { [NAMES.globalRole]: 'regular' } };
  const body = JSON.stringify({ kind: 'User', metadata, spec: { email: '', password: 'Made-up-pass-1' } });
  const caller = { name: 'root', uid: 'u', groups: [], source: '192.0.2.1', trail: {} };
  await create(Buffer.from(body), { ...caller, signal: new AbortController().signal });
}

/** `gatehouse users create`. */
async function byAnOperator(stand: Stand): Promise<void> {
  const operator = new UserOperator({
    ...{ ...common(stand), bindings: stand.bindings, roles: stand.roles, reservedNames: new Set<string>() },
    setPassword: stand.passwords.set,
    print: () => {},
  });
  await operator.create({ name: 'mia', email: '', groups: [], role: 'regular', hash: HASH });
}

/** The first administrator becomes an object. */
async function atTheStart(stand: Stand): Promise<void> {
  const { objects, ...parts } = common(stand);
  let admin: User | undefined = { name: 'mia', uid: 'derived', groups: [], passwordHash: HASH, state: 'Active' };
  const first = createFirstAdministratorObject({
    ...{ ...parts, objects, users: stand.records, passwords: stand.passwords, logger: quiet },
    administrator: () => admin,
    takenOver: async () => {
      admin = undefined;
    },
    isTaken: () => false,
    isKnown: () => true,
    isRead: () => true,
  });
  const stop = new AbortController();
  const running = first.run(stop.signal);
  await stand.clock.advance(100);
  stop.abort();
  await running;
}

const ORDER = ['object', 'password', 'role', 'state', 'whole'];
const CALLERS = [
  ['a caller of the API', byTheApi, ORDER],
  ['an operator', byAnOperator, ORDER],
  ['the first administrator', atTheStart, ORDER.filter((step) => step !== 'role')],
] as const;

describe('a user is made in one order', () => {
  test.each(CALLERS)('AC-10 for %s', async (_, make, order) => {
    const stand = cluster(Number.POSITIVE_INFINITY);
    await make(stand);
    expect(stand.steps).toEqual(order);
    await stand.keep();
    expect(stand.left()).toEqual([1, order.length - 4, 1]);
    expect(stand.users.peek('mia')).toMatchObject({ status: { state: 'Active' } });
    expect(stand.records.get('mia')).toMatchObject({ isIncomplete: false, isDeleting: false });
  });
});

describe('a process that dies while it makes a user', () => {
  const cases = CALLERS.flatMap(([who, make, order]) =>
    order.slice(0, -1).map((step, at) => [who, step, at + 1, make, order] as const),
  );

  test.each(cases)(
    'AC-10 for %s after the step "%s" leaves nobody who counts, and the keeper removes what is left',
    async (...[, , lives, make, order]) => {
      const stand = cluster(lives);
      await make(stand).catch(() => {});
      expect(stand.steps).toEqual(order.slice(0, lives));
      expect(stand.records.get('mia')).toMatchObject({ isIncomplete: true, hasFinalizer: true });
      await stand.keep();
      expect(stand.left()).toEqual([0, 0, 0]);
    },
  );
});

describe('a user', () => {
  const make = (stand: Stand, giveRole: () => Promise<void>) => {
    const { objects, ...parts } = common(stand);
    const undone: string[] = [];
    const undo = async ({ name }: { name: string }) => void undone.push(name);
    const user = { name: 'mia', spec: { email: '' }, state: 'Active', giveRole, undo } as const;
    return { undone, made: makeUser(user, { ...parts, objects, passwords: stand.passwords }) };
  };

  test('AC-10 that takes more than 45 s to make is undone: the keeper deletes one that is incomplete for 90 s', async () => {
    const stand = cluster(Number.POSITIVE_INFINITY);
    const { made, undone } = make(stand, () => stand.clock.advance(45_001));
    await expect(made).rejects.toThrow('it took too long');
    expect([undone, stand.records.get('mia')?.isIncomplete]).toEqual([['mia'], true]);
  });

  test('AC-10 that somebody removes meanwhile is not made', async () => {
    const stand = cluster(Number.POSITIVE_INFINITY);
    const { made, undone } = make(stand, async () => void (await stand.users.remove('mia')));
    await expect(made).rejects.toThrow('the user was removed meanwhile');
    expect(undone).toEqual(['mia']);
  });
});
