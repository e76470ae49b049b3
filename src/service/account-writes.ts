import { usersOf } from '../accounts/names.ts';
import { CLUSTER_ROLE_BINDINGS } from '../accounts/roles/role-binding.ts';
import { createStatusPatch } from '../accounts/states/status-patch.ts';
import { createEmailRivals } from '../accounts/users/email-rivals.ts';
import { type AccountWrites, createAccountWrites } from '../accounts/writes/account-writes.ts';
import { createRoleAssignment } from '../accounts/writes/role-assignment.ts';
import type { ForgetfulAuthorizer } from '../authorization/authorizer.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { AccountPeople } from './account-people.ts';
import type { Accounts } from './accounts.ts';
import type { Shared } from './family.ts';
import type { TokenService } from './token-service.ts';

export interface WritesParts extends Pick<Shared, 'clock' | 'logger' | 'events'> {
  readonly accounts: Pick<Accounts, 'names' | 'roles' | 'records'>;
  readonly people: Pick<AccountPeople, 'passwords'>;
  readonly tokens: Pick<TokenService, 'users' | 'signIn' | 'ends'>;
  readonly reviews: ForgetfulAuthorizer;
  readonly cluster: Pick<Cluster, 'objects'>;
}

/** Connects the writes of the account API to users, passwords, roles and sessions. */
export function createWrites(
  { reservedNames }: { readonly reservedNames: readonly string[] },
  { accounts, people, tokens, reviews, cluster, clock, logger, events }: WritesParts,
): AccountWrites {
  const { names, roles } = accounts;
  const bindings = cluster.objects(CLUSTER_ROLE_BINDINGS);
  const users = cluster.objects(usersOf(names));
  return createAccountWrites({
    names,
    reservedNames: new Set(reservedNames),
    users,
    patchStatus: createStatusPatch(users),
    known: tokens.users,
    rivals: createEmailRivals(accounts.records, { clock }),
    passwords: people.passwords,
    hasher: tokens.signIn,
    signIn: tokens.signIn,
    // A cut-off is never before now, so a token issued by a clock that runs ahead ends with the others.
    sessions: { user: (name) => tokens.ends.user(name, 0) },
    roles,
    assignment: createRoleAssignment({ names, roles, bindings }),
    authorizer: reviews,
    clock,
    logger,
    events,
  });
}
