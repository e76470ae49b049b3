import type { KubernetesObject, ObjectMeta } from '../kubernetes/object.ts';
import type { ClusterObjects } from '../kubernetes/objects/cluster-objects.ts';
import type { Clock } from '../runtime/clock.ts';
import { toRfc3339 } from '../runtime/text/rfc3339.ts';
import type { GivenState } from '../users/user.ts';
import type { AccountNames } from './names.ts';
import type { PasswordOwner, PasswordStore } from './passwords/password-store.ts';
import type { StatusPatch } from './states/status-patch.ts';

export interface UserMakingParts {
  readonly names: AccountNames;
  readonly objects: Pick<ClusterObjects, 'create' | 'patch'>;
  readonly passwords: Pick<PasswordStore, 'set'>;
  readonly patchStatus: StatusPatch;
  readonly clock: Clock;
}

export interface UserToMake {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** The annotations besides those that say how far the user is made. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly state: GivenState;
  /** Absent: the user cannot sign in until a password is set. */
  readonly hash?: string | undefined;
  /** Called when the name is this user's, and before anything is stored for it. A rejection ends the making. */
  claimed?(made: ObjectMeta): Promise<void>;
  /** Gives the user a platform role. */
  giveRole?(): Promise<void>;
  /** Called after a failure with the object that is there; must not reject. Absent: the keeper deletes the user. */
  undo?(owner: PasswordOwner): Promise<void>;
}

/** Keepers remove a user who is incomplete for longer than 90 s. */
const MOST_MS = 45_000;

/**
 * Makes a user in this order, which is a promise, since Kubernetes has no transaction (decision 24):
 *
 * 1. The object, with the mark that it is incomplete: its uid is what all the rest names. Until the mark goes, every
 *    replica treats the user as absent. Our finalizer is on it, so what comes next cannot outlive it.
 * 2. The password, 3. the role, 4. the state, each of which names the user and counts for nobody without it.
 * 5. The mark is removed: with this one write the user exists, complete.
 *
 * A process that dies anywhere leaves nothing, or an object with the mark. The keeper of any replica deletes that one after
 * 90 s, which is twice the longest time that this may take, and then all that belongs to it. Resolves with the whole
 * object. Rejects with the first failure; if `create` succeeded, after `undo`.
 */
export async function makeUser(user: UserToMake, parts: UserMakingParts): Promise<KubernetesObject> {
  const { name, state, hash } = user;
  const { names, objects, passwords, patchStatus, clock } = parts;
  const since = toRfc3339(clock.now());
  const { metadata } = await objects.create(toIncomplete(user, since, names));
  const { uid } = metadata;
  const began = clock.monotonic();
  try {
    await user.claimed?.(metadata);
    if (hash !== undefined) await passwords.set({ name, uid }, hash);
    await user.giveRole?.();
    await patchStatus(name, { state, lastTransitionTime: since }, { uid });
    if (clock.monotonic() - began > MOST_MS) throw new Error('it took too long');
    const whole = await objects.patch(name, { metadata: { uid, annotations: { [names.incomplete]: null } } });
    if (whole.metadata['deletionTimestamp']) throw new Error('the user was removed meanwhile');
    return whole;
  } catch (error) {
    await user.undo?.({ name, uid });
    throw error;
  }
}

const toIncomplete = ({ name, labels, annotations, spec, hash }: UserToMake, since: string, names: AccountNames) => ({
  apiVersion: names.apiVersion,
  kind: 'User',
  metadata: {
    name,
    ...(labels ? { labels } : {}),
    annotations: {
      ...annotations,
      [names.incomplete]: since,
      ...(hash === undefined ? {} : { [names.lastPasswordChange]: since }),
    },
    finalizers: [names.finalizer],
  },
  spec,
});
