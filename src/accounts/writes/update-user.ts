import { isDeepStrictEqual } from 'node:util';
import { ClusterError } from '../../kubernetes/client/api-client.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import { FailureThrottle } from '../../runtime/limits/failure-throttle.ts';
import { toRfc3339 } from '../../runtime/text/rfc3339.ts';
import { badRequest } from '../../status-error.ts';
import type { GivenState } from '../../users/user.ts';
import { attemptsTurnedAway, throwNotSaved } from '../refusals.ts';
import { toUserRecord } from '../users/user-record.ts';
import type { Caller } from './caller.ts';
import { checkGatewayLabels, checkGroups } from './group-rights.ts';
import { isSameTexts, type Planned, planUpdate } from './update-plan.ts';
import { parseUser } from './user-body.ts';
import {
  type AnsweredUser,
  type CheckAddress,
  currentUser,
  endSessions,
  isOwn,
  type UserWriteParts,
  withAddress,
} from './user-writes.ts';

export interface UpdateRequest {
  /** The name in the path. */
  readonly name: string;
  readonly body: Buffer;
  /** Whether the cluster allows the caller to update this user. If not, the caller is this user. */
  readonly isManager: boolean;
}

/**
 * Users may change their own object without a right, so they must not be able to burden the cluster with it: each change is
 * a write to etcd of the whole object, which every replica keeps in memory.
 */
const OWN_WRITES = { limit: 20, windowMs: 60_000 };

/**
 * Changes a user as the body says, within what this caller may change (docs/contract/accounts.md, section 6.4). A field that the
 * caller may not change keeps its value if the body lacks it or has that value. With any other value, the whole request is refused.
 */
export function createUserUpdate(
  parts: UserWriteParts,
): (request: UpdateRequest, caller: Caller) => Promise<AnsweredUser> {
  const { names, assignment } = parts;
  const ownWrites = new FailureThrottle(OWN_WRITES, parts.clock);
  return async ({ name, body, isManager }, caller) => {
    if (!isManager) countOwnWrite(name, ownWrites);
    const written = parseUser(body, names);
    if (written.name !== undefined && written.name !== name)
      throw badRequest(`the name of the object does not match the name on the URL (${name})`);
    const stored = await currentUser(name, parts);
    const isSelf = isOwn(stored, caller, parts);
    const roles = await assignment.rolesOf(name);
    const planned = planUpdate(written, stored, { isManager, isSelf, roles, parts });
    await checkRights(planned, stored, caller, parts);
    const object = await saveWithAddress(planned, stored, caller, parts);
    return { object, role: planned.role ?? roles[0] };
  };
}

function countOwnWrite(name: string, writes: FailureThrottle): void {
  const waitMs = writes.waitMs(name);
  if (waitMs > 0) throw attemptsTurnedAway(Math.max(1, Math.ceil(waitMs / 1000)));
  writes.add(name);
}

async function checkRights(
  { object, role }: Planned,
  stored: KubernetesObject,
  caller: Caller,
  parts: UserWriteParts,
): Promise<void> {
  const { name } = stored.metadata;
  const before = new Set(toUserRecord(stored, parts.names).groups);
  const added = toUserRecord(object, parts.names).groups.filter((group) => !before.has(group));
  await checkGroups(added, name, caller, parts);
  const labels = { before: stored.metadata.labels ?? {}, after: object.metadata.labels };
  await checkGatewayLabels(labels, name, caller, parts);
  if (role !== undefined) await parts.assignment.check(name, role, caller);
}

/** Saves a user with a new address. If two users get one address at the same moment, only one change stays; the other is undone. */
function saveWithAddress(
  planned: Planned,
  stored: KubernetesObject,
  caller: Caller,
  parts: UserWriteParts,
): Promise<KubernetesObject> {
  const { name, email: before } = toUserRecord(stored, parts.names);
  const { email } = toUserRecord(planned.object, parts.names);
  const isNew = email.toLowerCase() !== before.toLowerCase();
  return withAddress({ name, email: isNew ? email : '' }, parts, (checkAddress) =>
    save({ ...planned, checkAddress }, stored, caller, parts),
  );
}

/**
 * Writes the object first: the cluster accepts only one of two changes to the same version, and only that one goes on to the role.
 * Then it gives the new role, and removes the old one last. If the role cannot be given, it restores the object.
 */
async function save(
  { object, state, role, checkAddress }: Planned & { readonly checkAddress: CheckAddress },
  stored: KubernetesObject,
  caller: Caller,
  parts: UserWriteParts,
): Promise<KubernetesObject> {
  const { objects, assignment, refusals } = parts;
  const { name } = stored.metadata;
  if (state === 'Disabled') await endSessions(name, parts);
  let saved = await replace(object, objects).catch(refusals.throwWriteFailure(name));
  try {
    await checkAddress(saved.metadata);
    if (role !== undefined) await assignment.give(name, role, caller);
  } catch (error) {
    await restore(stored, saved, parts);
    throw error;
  }
  if (state !== undefined) saved = await changeState(saved, state, parts);
  if (role === undefined) return saved;
  await assignment.removeOthers(name, role, caller).finally(() => parts.authorizer.forget(name));
  return saved;
}

/** Undoes a change, unless somebody has changed the user since. */
async function restore(
  stored: KubernetesObject,
  { metadata: { resourceVersion } }: KubernetesObject,
  { objects, logger }: UserWriteParts,
): Promise<void> {
  const before = { ...stored, metadata: { ...stored.metadata, resourceVersion } };
  await objects.replace(before).catch((error: unknown) => {
    const user = stored.metadata.name;
    logger.warn({ err: error, user }, 'a change of a user that cannot be completed cannot be undone');
  });
}

/** If the answer is lost, reads the object to find out whether the write succeeded. */
async function replace(object: KubernetesObject, objects: ClusterObjects): Promise<KubernetesObject> {
  return await objects.replace(object).catch(async (error: unknown) => {
    if (error instanceof ClusterError && error.status.code < 500) throw error;
    const stored = await objects.get(object.metadata.name).catch(() => undefined);
    if (stored && isWritten(object, stored)) return stored;
    throw error;
  });
}

function isWritten(object: KubernetesObject, stored: KubernetesObject): boolean {
  const { uid, labels = {}, annotations = {}, resourceVersion } = object.metadata;
  return (
    stored.metadata.uid === uid &&
    stored.metadata.resourceVersion !== resourceVersion &&
    isSameTexts(stored.metadata.labels ?? {}, labels) &&
    isSameTexts(stored.metadata.annotations ?? {}, annotations) &&
    isDeepStrictEqual(stored['spec'], object['spec'])
  );
}

async function changeState(
  { metadata: { name, uid } }: KubernetesObject,
  state: GivenState,
  { patchStatus, clock }: UserWriteParts,
): Promise<KubernetesObject> {
  const status = { state, reason: null, lastTransitionTime: toRfc3339(clock.now()) };
  return await patchStatus(name, status, { uid }).catch(
    throwNotSaved(`the user is saved, but its state is not ${state} yet`),
  );
}
