import { ClusterError, isAlreadyExists } from '../../kubernetes/client/api-client.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ClusterObjects, Impersonated } from '../../kubernetes/objects/cluster-objects.ts';
import { StatusError } from '../../status-error.ts';
import { type AccountNames, userRef } from '../names.ts';
import { type AccountRefusals, notSaved, throwNotSaved } from '../refusals.ts';
import type { KeptBinding, PlatformRoles } from '../roles/platform-roles.ts';
import { bindingName, boundRole, boundUser, namesUser, toBinding } from '../roles/role-binding.ts';
import type { Caller } from './caller.ts';

export interface RoleAssignmentParts {
  readonly names: AccountNames;
  readonly roles: PlatformRoles;
  readonly bindings: ClusterObjects;
  /** The RoleBindings of all namespaces; absent when a new user cannot reach the cluster without an operator. */
  readonly namespacedBindings?: Pick<ClusterObjects, 'list'> | undefined;
  readonly refusals: AccountRefusals;
}

/**
 * Gives users their platform role by ClusterRoleBindings. It writes them as the caller, by impersonation: so the cluster's own
 * check against escalation decides whether the caller may (docs/contract/accounts.md, section 7). Our own account may only remove
 * them.
 */
export interface RoleAssignment {
  /**
   * Checks by dry runs, which change nothing, that the caller may make this the user's role. Rejects with 404 for a role that is
   * not assignable (AC-18), 403 for one that the caller may not give (AC-19), 503 when the cluster does not say.
   */
  check(user: string, role: string, caller: Caller): Promise<void>;
  /** The user's roles as the cluster has them now. Answers show the first one. */
  rolesOf(user: string): Promise<readonly string[]>;
  /**
   * Creates the binding and returns its uid; `undefined` when it existed already. The user's other bindings stay. Rejects like
   * `check`.
   */
  give(user: string, role: string, caller: Caller): Promise<string | undefined>;
  /**
   * Removes the user's kept bindings of other roles, as the caller. Rejects with 503 when one is left. If a concurrent change of
   * the role removed this one, it is given again, so that the user is not left without any.
   */
  removeOthers(user: string, role: string, caller: Caller): Promise<void>;
  /** Undoes `give` after a later failure: our own account removes the binding with this uid. */
  takeBack(user: string, role: string, uid: string): Promise<void>;
  /** Whether bindings that Gatehouse did not make name this user: a new user of that name would get their rights. */
  isBound(user: string): Promise<boolean>;
  /** Our own account removes every kept binding of a name that no user has, so that a new user inherits none. */
  clear(user: string): Promise<void>;
}

export function createRoleAssignment(parts: RoleAssignmentParts): RoleAssignment {
  const { bindings, refusals } = parts;
  const others = async (user: string, role: string) =>
    (await keptBindings(user, parts)).filter((binding) => binding.role !== role);
  const removeAs = (caller: Caller, { name, uid }: KeptBinding, dryRun = false) =>
    asCaller(caller, (as) => bindings.remove(name, { uid }, { as, dryRun }));

  return {
    async check(user, role, caller) {
      await bind({ user, role, dryRun: true }, caller, parts);
      for (const binding of await others(user, role)) {
        await removeAs(caller, binding, true).catch((error: unknown) => {
          throw toRoleFailure(error, { user, role, refusals });
        });
      }
    },
    rolesOf: async (user) => (await keptBindings(user, parts)).map(({ role }) => role),
    give: (user, role, caller) => bind({ user, role }, caller, parts),
    async removeOthers(user, role, caller) {
      for (const binding of await others(user, role)) {
        await removeAs(caller, binding).catch(
          throwNotSaved(`the user has the role "${role}" now, but "${binding.role}" as well`),
        );
      }
      if (!(await bindingOf({ user, role }, parts))) await bind({ user, role }, caller, parts);
    },
    isBound: (user) => isBoundElsewhere(user, parts),
    takeBack: async (user, role, uid) => void (await bindings.remove(bindingName(user, role), { uid })),
    async clear(user) {
      for (const { name, uid } of await keptBindings(user, parts)) await bindings.remove(name, { uid });
    },
  };
}

/** A role and the user who is to have it. */
interface Assigned {
  readonly user: string;
  readonly role: string;
}

/** Creates the binding as the caller and returns its uid; `undefined` when the user has it already. */
async function bind(
  { user, role, dryRun = false }: Assigned & { readonly dryRun?: boolean },
  caller: Caller,
  parts: RoleAssignmentParts,
): Promise<string | undefined> {
  const { names, roles, bindings, refusals } = parts;
  if (!roles.isAssignable(role)) throw refusals.notFound('globalroles', role);
  try {
    const made = await asCaller(caller, (as) => bindings.create(toBinding(user, role, names), { as, dryRun }));
    return made.metadata.uid;
  } catch (error) {
    if (isAlreadyExists(error)) return checkExisting({ user, role }, parts);
    const made = dryRun ? undefined : await madeAllTheSame({ user, role }, error, parts);
    if (made) return made.metadata.uid;
    throw toRoleFailure(error, { user, role, refusals });
  }
}

/** If the answer was lost, reads the binding to find out whether the write succeeded. */
async function madeAllTheSame(
  { user, role }: Assigned,
  error: unknown,
  { bindings }: RoleAssignmentParts,
): Promise<KubernetesObject | undefined> {
  if (error instanceof ClusterError && error.status.code < 500) return undefined;
  const binding = await bindings.get(bindingName(user, role)).catch(() => undefined);
  return binding && gives(binding, user, role) ? binding : undefined;
}

/** Accepts a binding that an earlier, failed request left behind, but not one that gives something else under the same name. */
async function checkExisting({ user, role }: Assigned, parts: RoleAssignmentParts): Promise<undefined> {
  const binding = await bindingOf({ user, role }, parts);
  if (!binding || !gives(binding, user, role)) throw parts.refusals.roleNameTaken(user, bindingName(user, role));
}

const bindingOf = ({ user, role }: Assigned, { bindings, refusals }: RoleAssignmentParts) =>
  bindings.get(bindingName(user, role)).catch((error: unknown) => {
    throw toRoleFailure(error, { user, role, refusals });
  });

/** Asks the cluster, because memory may be too old for a decision about a role. */
async function keptBindings(user: string, { bindings, names }: RoleAssignmentParts): Promise<readonly KeptBinding[]> {
  const found = await bindings
    .list(`${names.userRef}=${userRef(user)}`)
    .catch(throwNotSaved('the cluster did not tell which roles the user has'));
  return found
    .filter((binding) => isKept(binding, user))
    .map((binding) => ({ ...binding.metadata, role: boundRole(binding) ?? '' }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether a binding with the user's label is ours: a label alone proves nothing, because anybody who makes a binding can set it. */
const isKept = (binding: KubernetesObject, user: string): boolean =>
  boundUser(binding) === user && binding.metadata.name === bindingName(user, boundRole(binding) ?? '');

async function isBoundElsewhere(user: string, parts: RoleAssignmentParts): Promise<boolean> {
  const { bindings, namespacedBindings, names } = parts;
  const [ofCluster, ofNamespaces = []] = await Promise.all([bindings.list(''), namespacedBindings?.list('')]).catch(
    throwNotSaved('the cluster did not tell which rights wait for a user of this name'),
  );
  const isOurs = (binding: KubernetesObject): boolean =>
    binding.metadata.labels?.[names.userRef] === userRef(user) && isKept(binding, user);
  const foreign = ofCluster.filter((binding) => !isOurs(binding));
  return [...foreign, ...ofNamespaces].some((binding) => namesUser(binding, user));
}

/** The group names that a header can carry. */
const SENDABLE = /^[!-~]+$/;

/**
 * Sends a request as the caller, without groups that a header cannot carry or that we may not impersonate: fewer groups can only
 * mean fewer rights. The installation lets us impersonate the users who may give roles and the groups that matter for that, but not
 * all groups of these users.
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

/** The group that the API server does not let us impersonate, read from its message. */
const refusedGroup = (error: unknown): string | undefined =>
  error instanceof ClusterError && error.isOfImpersonation
    ? /^groups "([^"]*)" is forbidden/.exec(error.status.message)?.[1]
    : undefined;

/** Another user's binding may have the same name: `a-b` with the role `c`, and `a` with `b-c`. */
const gives = (binding: KubernetesObject, user: string, role: string): boolean =>
  boundUser(binding) === user && boundRole(binding) === role;

function toRoleFailure(
  error: unknown,
  { user, role, refusals }: Assigned & Pick<RoleAssignmentParts, 'refusals'>,
): unknown {
  if (error instanceof StatusError) return error;
  if (!(error instanceof ClusterError))
    return notSaved('the cluster did not answer whether the role may be given', error);
  const { code } = error.status;
  if (code === 403 && !error.isOfImpersonation)
    return refusals.forbiddenChange(user, `you may not give the role "${role}": the cluster does not let you bind it`);
  if (code === 404) return refusals.notFound('globalroles', role);
  if (code === 403) return notSaved('the cluster does not let this server give roles in your name', error);
  return notSaved('the cluster did not answer whether the role may be given', error);
}
