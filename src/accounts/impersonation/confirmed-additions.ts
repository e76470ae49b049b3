import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import type { AccountNames } from '../names.ts';
import { KeptBindings } from '../roles/kept-bindings.ts';
import { toUserRecord } from '../users/user-record.ts';
import type { AccountSelection } from './account-selection.ts';
import { ChosenUsers } from './chosen-users.ts';
import type { Difference } from './role-plan.ts';

/** Up to this many users are read one by one; for more, one list of all users is cheaper. */
const READ_ONE_BY_ONE = 20;

export interface ConfirmationParts {
  readonly names: AccountNames;
  readonly selection: AccountSelection;
  isCounted(user: string): boolean;
  /** The User objects. */
  readonly objects: Pick<ClusterObjects, 'get' | 'list'>;
  /** The ClusterRoleBindings that give users their platform roles. */
  readonly bindings: Pick<ClusterObjects, 'list'>;
}

/**
 * The missing names that the cluster confirms now. A replica whose watch is behind would otherwise give back what another has just
 * taken away from a user who was disabled, deleted, or made again under the same name. Rejects when the cluster does not answer.
 */
export async function confirmed(
  missing: readonly Difference[],
  parts: ConfirmationParts,
): Promise<readonly Difference[]> {
  if (missing.length === 0) return [];
  const { names, selection, isCounted } = parts;
  const kept = await bindingsNow(parts);
  const chosen = new ChosenUsers({ selection, isCounted, roleOf: (user) => kept?.roleOf(user) });
  for (const object of await usersNow(missing, parts)) chosen.update(object.metadata.name, toUserRecord(object, names));
  const wanted = chosen.wanted();
  return missing.filter(({ named, name }) => wanted[named].has(name));
}

async function usersNow(
  missing: readonly Difference[],
  { objects }: ConfirmationParts,
): Promise<readonly KubernetesObject[]> {
  // Any user may have a group, so a new group takes a list.
  const isShort = missing.length <= READ_ONE_BY_ONE && missing.every(({ named }) => named === 'users');
  if (!isShort) return objects.list('');
  const read = await Promise.all(missing.map(({ name }) => objects.get(name)));
  return read.filter((object) => object !== undefined);
}

async function bindingsNow({ names, selection, bindings }: ConfirmationParts): Promise<KeptBindings | undefined> {
  if (!selection.readsRoles) return undefined;
  const kept = new KeptBindings(names);
  for (const object of await bindings.list(names.userRef)) kept.put(kept.toEntry(object));
  return kept;
}
