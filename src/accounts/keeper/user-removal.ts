import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';
import { asArray } from '../../runtime/text/json-value.ts';
import { type AccountNames, userRef } from '../names.ts';
import type { PasswordStore } from '../passwords/password-store.ts';
import { isRecordOf } from '../records/record-owner.ts';
import { boundUser } from '../roles/role-binding.ts';
import type { UserRecord } from '../users/user-record.ts';
import type { Job } from './job.ts';

export interface UserRemovalParts {
  readonly names: AccountNames;
  /** The User objects. */
  readonly objects: Pick<ClusterObjects, 'get' | 'patch'>;
  readonly bindings: Pick<ClusterObjects, 'list' | 'remove'>;
  readonly loginRecords: Pick<ClusterObjects, 'list' | 'remove'>;
  readonly passwords: Pick<PasswordStore, 'remove'>;
  /** Ends every session of the user. */
  readonly ends: { user(name: string, iat: number): Promise<void> };
  readonly clock: Clock;
}

/** Login records that one run of the job deletes, in about half a second. A user with thousands of them must not delay others. */
const RECORDS_A_TURN = 50;
/** The most users in memory. Beyond that the oldest is forgotten and its removal begins again. */
const MOST_UNDER_WAY = 1_000;

/** What a removal needs to know of a record. */
type Leftover = Pick<KubernetesObject['metadata'], 'name' | 'uid'>;

/** Removes everything that belongs to a user whom any tool has deleted, and then our finalizer. */
export function createUserRemoval(parts: UserRemovalParts): Job {
  const { names, bindings, loginRecords, passwords, ends, clock } = parts;
  /** The login records that are still to be deleted, keyed by the user's uid. Everything else of these users is gone. */
  const underWay = new BoundedMap<Leftover[]>(MOST_UNDER_WAY);

  /** Removes everything but the login records, and returns those. */
  const begin = async ({ name, uid }: UserRecord): Promise<Leftover[]> => {
    const selector = `${names.userRef}=${userRef(name)}`;
    // While the object is there, nobody else can have this name. So the sessions that end are this user's, even if the object
    // was deleted while no replica ran.
    await ends.user(name, Math.floor(clock.now() / 1000));
    // Anyone can put this label on a binding. Gatehouse's own bindings have the user as their only subject.
    for (const binding of await bindings.list(selector))
      if (boundUser(binding) === name) await bindings.remove(binding.metadata.name, { uid: binding.metadata.uid });
    await passwords.remove({ name, uid });
    const records = await loginRecords.list(selector);
    return records
      .filter((record) => isRecordOf(name, record))
      .map(({ metadata: { name: record, uid: its } }) => ({ name: record, uid: its }));
  };

  return async (user, signal) => {
    const records = underWay.get(user.uid) ?? (await begin(user));
    underWay.set(user.uid, records);
    for (let removed = 0; removed < RECORDS_A_TURN && records.length > 0; removed++) {
      if (signal.aborted) return undefined;
      const { name, uid } = records.at(-1) as Leftover;
      await loginRecords.remove(name, { uid });
      records.pop();
    }
    if (records.length > 0) return 0;
    await removeFinalizer(user, parts);
    underWay.delete(user.uid);
    return undefined;
  };
}

/** Removes our finalizer and no other. */
async function removeFinalizer({ name, uid }: UserRecord, { names, objects }: UserRemovalParts): Promise<void> {
  const stored = await objects.get(name);
  if (stored?.metadata.uid !== uid) return;
  const finalizers = asArray(stored.metadata['finalizers']);
  if (!finalizers.includes(names.finalizer)) return;
  const { resourceVersion } = stored.metadata;
  const others = finalizers.filter((one) => one !== names.finalizer);
  await objects.patch(name, { metadata: { uid, resourceVersion, finalizers: others } });
}

/** Adds our finalizer to a user that another tool created, so that deleting the user also removes what belongs to it. */
export function createGuarding({ names, objects }: Pick<UserRemovalParts, 'names' | 'objects'>): Job {
  return async ({ name, uid }) => {
    const stored = await objects.get(name);
    if (stored?.metadata.uid !== uid || stored.metadata['deletionTimestamp'] !== undefined) return undefined;
    const finalizers = asArray(stored.metadata['finalizers']);
    if (finalizers.includes(names.finalizer)) return undefined;
    const { resourceVersion } = stored.metadata;
    await objects.patch(name, { metadata: { uid, resourceVersion, finalizers: [...finalizers, names.finalizer] } });
    return undefined;
  };
}
