import type { AccountReads } from '../../../src/accounts/account-reads.ts';
import { accountNames } from '../../../src/accounts/names.ts';
import { createLoginRecordLists } from '../../../src/accounts/records/fetched-records.ts';
import { createRoleKind } from '../../../src/accounts/roles/role-kind.ts';
import { createUserKind } from '../../../src/accounts/users/user-kind.ts';
import { createUserPresenter, type UserPresenter } from '../../../src/accounts/users/user-presenter.ts';
import type { AccountWrites } from '../../../src/accounts/writes/account-writes.ts';
import { toRepresentation } from '../../../src/http/answer/document.ts';
import { systemClock } from '../../../src/runtime/clock.ts';

const representationOf = (value: object) => toRepresentation(Buffer.from(JSON.stringify(value)));

interface AccountsUnderTest {
  readonly reads: AccountReads;
  readonly writes: AccountWrites;
  readonly presenter: UserPresenter;
}

/** The user `bob`, the role `platform-regular`, and no sign-in. Every write succeeds, and answers bob. */
export function accountsUnderTest(platform = 'gatehouse'): AccountsUnderTest {
  const names = accountNames(platform);
  const { apiVersion } = names;
  const metadata = (name: string) => ({ name, uid: `uid-${name}`, resourceVersion: '7' });
  const bob = { metadata: metadata('bob'), spec: { email: 'bob@example.com' }, status: { state: 'Active' } };
  const regular = { metadata: metadata('platform-regular'), rules: [] };
  const listOf = (kind: string, item: { metadata: { name: string } }) => ({
    refresh: () => 1,
    list: () => representationOf({ items: [item], totalItems: 1 }),
    get: (name: string) => (name === item.metadata.name ? representationOf({ kind, apiVersion, ...item }) : undefined),
  });
  const age = { staleSeconds: () => undefined };
  const answered = async () => ({ object: bob, role: undefined });
  return {
    writes: {
      create: answered,
      update: answered,
      setFirstPassword: answered,
      remove: async () => {},
      changePassword: async () => {},
    },
    presenter: createUserPresenter(names),
    reads: {
      names,
      users: { kind: createUserKind(names), lister: listOf('User', bob), age },
      roles: { kind: createRoleKind(names), lister: listOf('GlobalRole', regular), age },
      otherUser: () => undefined,
      isKnown: (name) => name === 'bob',
      rolesOf: () => Buffer.from(JSON.stringify([regular])),
      loginRecords: createLoginRecordLists(names, { list: async () => [] }, systemClock),
    },
  };
}
