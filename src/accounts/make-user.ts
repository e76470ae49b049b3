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
  /** Annotations to set in addition to the mark and the time of the password. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly state: GivenState;
  /** Absent: the user cannot sign in until a password is set. */
  readonly hash?: string | undefined;
  /** Called when the object exists, before anything else is stored for the user. If it rejects, the creation fails. */
  claimed?(made: ObjectMeta): Promise<void>;
  /** Gives the user a platform role. */
  giveRole?(): Promise<void>;
  /** Called with the object after a failure; must not reject. Absent: the keeper deletes the user. */
  undo?(owner: PasswordOwner): Promise<void>;
}

/** Half of the 90 s after which keepers delete an incomplete user. */
const MOST_MS = 45_000;

/**
 * Makes a user in this order, which is a promise, since Kubernetes has no transaction (decision 24):
 *
 * 1. The object, marked as incomplete. All other writes name its uid. While the mark is there, every replica treats the user as
 *    absent. Our finalizer is on it, so nothing that follows outlives it.
 * 2. The password, 3. the role, 4. the state. Each names the user, and has no effect without it.
 * 5. The mark is removed: with this one write the user exists, complete.
 *
 * A process that dies leaves nothing, or a marked object. The keeper of any replica deletes that object, with everything that
 * belongs to it, after 90 s: twice the longest time that this may take. Resolves with the complete object. Rejects with the first
 * failure; if the object was created, `undo` has run.
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
