import { describe, expect, test } from 'vitest';
import { accountNames } from '../../../src/accounts/names.ts';
import { UserOperator } from '../../../src/accounts/operator/user-operator.ts';
import { AccountRefusals } from '../../../src/accounts/refusals.ts';
import { createStatusPatch } from '../../../src/accounts/states/status-patch.ts';
import { createAccountWrites } from '../../../src/accounts/writes/account-writes.ts';
import type { Caller } from '../../../src/accounts/writes/caller.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { MemoryObjects } from '../../support/accounts/memory-objects.ts';

const names = accountNames('kubesphere');
const CALLER: Caller = {
  ...{ name: 'admin', uid: 'uid-admin', groups: [], source: '192.0.2.1', trail: {} },
  signal: new AbortController().signal,
};
const done = async (): Promise<void> => {};

/** The definitions of KubeSphere 3.4 have no status subresource. */
function usersOf34(): MemoryObjects {
  const users = new MemoryObjects();
  users.hasStatus = false;
  return users;
}

function writesTo(users: MemoryObjects) {
  return createAccountWrites({
    refusals: new AccountRefusals(names),
    ...{
      names,
      objects: users,
      patchStatus: createStatusPatch(users),
      reservedNames: new Set<string>(),
      clock: systemClock,
    },
    known: { byName: () => undefined, ownersOfEmail: () => [] },
    rivals: { expect: () => ({ wasTaken: async () => false, end: () => {} }) },
    passwords: {
      ...{ hashOf: () => undefined, set: done, remove: done, onChange: () => {} },
      ...{ fault: () => undefined, copies: [] },
    },
    hasher: { hash: async () => ({ kind: 'ok', hash: 'a hash' }) },
    signIn: { signIn: () => Promise.reject(new Error('nobody signs in')) },
    sessions: { user: done, allBut: done },
    roles: { isAssignable: () => false, bindingsOf: () => [], roleOf: () => undefined },
    assignment: {
      check: done,
      rolesOf: async () => [],
      isBound: async () => false,
      give: async () => undefined,
      removeOthers: done,
      takeBack: done,
      clear: done,
    },
    authorizer: { authorize: async () => ({ allowed: true }), forget: () => {} } as never,
    logger: createLogger({ level: 'silent', format: 'json' }),
    events: { report: () => {} },
  });
}

const body = (change: object): Buffer => Buffer.from(JSON.stringify({ kind: 'User', spec: { email: '' }, ...change }));

describe('users by a definition without a status subresource', () => {
  test('are made and disabled through the API', async () => {
    const users = usersOf34();
    const writes = writesTo(users);
    const { object } = await writes.create(body({ metadata: { name: 'ada' } }), CALLER);
    expect(object['status']).toMatchObject({ state: 'Active' });
    const { resourceVersion } = object.metadata;
    const disabled = body({ metadata: { name: 'ada', resourceVersion }, status: { state: 'Disabled' } });
    await writes.update({ name: 'ada', body: disabled, isManager: true }, CALLER);
    expect(users.peek('ada')?.['status']).toMatchObject({ state: 'Disabled' });
  });

  test('are made and disabled by an operator', async () => {
    const users = usersOf34();
    const operator = new UserOperator({
      ...{
        names,
        objects: users,
        patchStatus: createStatusPatch(users),
        reservedNames: new Set<string>(),
        clock: systemClock,
      },
      ...{ bindings: new MemoryObjects(), roles: new MemoryObjects(), setPassword: done, print: () => {} },
    });
    await operator.create({ name: 'ada', email: '', groups: [] });
    expect(users.peek('ada')?.['status']).toMatchObject({ state: 'Active' });
    await operator.setState('ada', 'Disabled', 'disabled by an operator');
    expect(users.peek('ada')?.['status']).toMatchObject({ state: 'Disabled' });
  });
});
