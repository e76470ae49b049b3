import { ClusterError, isAlreadyExists } from '../../kubernetes/client/api-client.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ClusterObjects, Impersonated } from '../../kubernetes/objects/cluster-objects.ts';
import { StatusError } from '../../status-error.ts';
import { type AccountNames, userRef } from '../names.ts';
import { forbiddenChange, notFoundIn, notSaved, roleNameTaken } from '../refusals.ts';
import type { KeptBinding, PlatformRoles } from '../roles/platform-roles.ts';
import { bindingName, boundRole, boundUser, namesUser, toBinding } from '../roles/role-binding.ts';
import type { Caller } from './caller.ts';

export interface RoleAssignmentParts {
  readonly names: AccountNames;
  readonly roles: PlatformRoles;
  readonly bindings: ClusterObjects;
}

/**
 * Gives users their platform role, by ClusterRoleBindings that are written as the caller: the cluster's own rule against
 * escalation decides whether the caller may (docs/contract/accounts.md, section 7). Our own account may only remove them.
 */
export interface RoleAssignment {
  /**
   * Whether the caller may make this the user's role, asked by a dry run that changes nothing. Rejects with 404 for a
   * role that is not assignable (AC-18), 403 for one that the caller may not give (AC-19), 503 when nobody knows.
   */
  check(user: string, role: string, caller: Caller): Promise<void>;
  /** The roles of the user as the cluster has them now, the one that is shown first. */
  rolesOf(user: string): Promise<readonly string[]>;
  /**
   * Makes the new binding and returns its uid; `undefined` when it existed already. The user's other bindings stay. Rejects
   * as `check`.
   */
  give(user: string, role: string, caller: Caller): Promise<string | undefined>;
  /**
   * Removes the user's kept bindings of other roles, as the caller. Rejects with 503 when one is left. When somebody else
   * has meanwhile removed this role for another one, it is given again: no change leaves a user without any.
   */
  removeOthers(user: string, role: string, caller: Caller): Promise<void>;
  /** Removes the binding of this uid, which `give` has made, as ourselves: something else of the request failed. */
  takeBack(user: string, role: string, uid: string): Promise<void>;
  /** Whether ClusterRoleBindings that somebody else made name this user: the next user of that name would get their rights. */
  isBound(user: string): Promise<boolean>;
  /** Removes every kept binding of a name that no user has, as ourselves: a new user must inherit none. */
  clear(user: string): Promise<void>;
}

export function createRoleAssignment(parts: RoleAssignmentParts): RoleAssignment {
  const { names, roles, bindings } = parts;

  const write = async (user: string, role: string, caller: Caller, dryRun: boolean): Promise<string | undefined> => {
    if (!roles.isAssignable(role)) throw notFoundIn(names, 'globalroles', role);
    try {
      const made = await asCaller(caller, (as) => bindings.create(toBinding(user, role, names), { as, dryRun }));
      return made.metadata.uid;
    } catch (error) {
      if (!isAlreadyExists(error)) {
        if (dryRun) throw toRoleFailure(error, { user, role, names });
        return madeAllTheSame(user, role, error);
      }
      await checkExisting(user, role);
      return undefined;
    }
  };
  /** A lost answer is not a failure yet: reading what is stored shows whether the write succeeded. */
  const madeAllTheSame = async (user: string, role: string, error: unknown): Promise<string> => {
    const isRefused = error instanceof ClusterError && error.status.code < 500;
    const binding = isRefused ? undefined : await bindings.get(bindingName(user, role)).catch(() => undefined);
    if (binding && gives(binding, user, role)) return binding.metadata.uid;
    throw toRoleFailure(error, { user, role, names });
  };
  const get = (user: string, role: string) =>
    bindings.get(bindingName(user, role)).catch((error: unknown) => {
      throw toRoleFailure(error, { user, role, names });
    });
  /** An earlier request may have made the binding and failed later. One of another user may have the same name. */
  const checkExisting = async (user: string, role: string): Promise<void> => {
    const binding = await get(user, role);
    if (binding && gives(binding, user, role)) return;
    throw roleNameTaken(names, user, bindingName(user, role));
  };
  /** From the cluster: what decides about a role must not be as old as memory may be. */
  const kept = async (user: string): Promise<readonly KeptBinding[]> => {
    const found = await bindings.list(`${names.userRef}=${userRef(user)}`).catch((error: unknown) => {
      throw notSaved('the cluster did not tell which roles the user has', error);
    });
    return found
      .map((binding) => ({ ...binding.metadata, role: boundRole(binding) ?? '', user: boundUser(binding) }))
      .filter((binding) => binding.user === user && binding.name === bindingName(user, binding.role))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  const remove = async ({ name, uid }: Pick<KeptBinding, 'name' | 'uid'>, as?: Impersonated, dryRun = false) => {
    await bindings.remove(name, { uid }, { as, dryRun });
  };
  const others = async (user: string, role: string) => (await kept(user)).filter((binding) => binding.role !== role);

  return {
    check: async (user, role, caller) => {
      await write(user, role, caller, true);
      for (const binding of await others(user, role)) {
        await asCaller(caller, (as) => remove(binding, as, true)).catch((error: unknown) => {
          throw toRoleFailure(error, { user, role, names });
        });
      }
    },
    rolesOf: async (user) => (await kept(user)).map(({ role }) => role),
    give: (user, role, caller) => write(user, role, caller, false),
    removeOthers: async (user, role, caller) => {
      for (const binding of await others(user, role)) {
        await asCaller(caller, (as) => remove(binding, as)).catch((error: unknown) => {
          throw notSaved(`the user has the role "${role}" now, but "${binding.role}" as well`, error);
        });
      }
      if (!(await get(user, role))) await write(user, role, caller, false);
    },
    isBound: async (user) => {
      const all = await bindings.list('').catch((error: unknown) => {
        throw notSaved('the cluster did not tell which rights wait for a user of this name', error);
      });
      return all.some((binding) => binding.metadata.labels?.[names.userRef] === undefined && namesUser(binding, user));
    },
    takeBack: (user, role, uid) => remove({ name: bindingName(user, role), uid }),
    clear: async (user) => {
      for (const binding of await kept(user)) await remove(binding);
    },
  };
}

/** What a header can carry. A group with another name cannot be acted as, which only narrows what is allowed. */
const SENDABLE = /^[!-~]+$/;

/**
 * Sends a request as the caller. A group that we may not act as is left out, which can only narrow what the cluster
 * allows: the installation names those who give roles, and the groups that count for it, but not every group of theirs.
 */
async function asCaller<T>(caller: Caller, send: (as: Impersonated) => Promise<T>): Promise<T> {
  // The API server adds this group by itself, and impersonating it would need a right of its own.
  let groups = caller.groups.filter((group) => group !== 'system:authenticated' && SENDABLE.test(group));
  for (;;) {
    try {
      return await send({ name: caller.name, groups });
    } catch (error) {
      const refused = refusedGroup(error);
      if (refused === undefined || !groups.includes(refused)) throw error;
      groups = groups.filter((group) => group !== refused);
    }
  }
}

/** The group that we may not act as, in the API server's words. */
const refusedGroup = (error: unknown): string | undefined =>
  error instanceof ClusterError && error.isOfImpersonation
    ? /^groups "([^"]*)" is forbidden/.exec(error.status.message)?.[1]
    : undefined;

/** A binding of another user may have the same name: `a-b` with the role `c`, and `a` with `b-c`. */
const gives = (binding: KubernetesObject, user: string, role: string): boolean =>
  boundUser(binding) === user && boundRole(binding) === role;

function toRoleFailure(
  error: unknown,
  { user, role, names }: { readonly user: string; readonly role: string; readonly names: AccountNames },
): unknown {
  if (error instanceof StatusError) return error;
  if (!(error instanceof ClusterError))
    return notSaved('the cluster did not answer whether the role may be given', error);
  const { code } = error.status;
  if (code === 403 && !error.isOfImpersonation)
    return forbiddenChange(names, user, `you may not give the role "${role}": the cluster does not let you bind it`);
  if (code === 404) return notFoundIn(names, 'globalroles', role);
  if (code === 403) return notSaved('the cluster does not let this server give roles in your name', error);
  return notSaved('the cluster did not answer whether the role may be given', error);
}
