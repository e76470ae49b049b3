import type { LastProof } from '../../data-age.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { asArray, asObject } from '../../runtime/text/json-value.ts';
import type { AccountNames } from '../names.ts';

/** A User object as the directory and the writers read it. A member of another type counts as absent. */
export interface UserRecord {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** `''` when there is none. */
  readonly email: string;
  /** The address that was verified; `''` when none was. */
  readonly verifiedEmail: string;
  /** `''` when there is none. */
  readonly lang: string;
  readonly groups: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** `''` when no state is set; else the stored word, known to us or not. */
  readonly state: string;
  /** RFC 3339; `''` when there is none. */
  readonly lastTransitionTime: string;
  readonly lastLoginTime: string;
  /** When this is not empty, the user must set a first password. */
  readonly uninitialized: string;
  /** The user is still being created: it is not shown and cannot sign in. */
  readonly isIncomplete: boolean;
  readonly isDeleting: boolean;
  /** Milliseconds since 1970. Tokens issued earlier belong to an earlier user of this name, or were ended. */
  readonly tokensNotBeforeMs: number;
  /** The session to which that time does not apply; `''` without one. */
  readonly sparedSession: string;
  /** Whether the object has our finalizer, which keeps it until everything that belongs to the user is gone. */
  readonly hasFinalizer: boolean;
  /** `spec.password`: set only in clusters of KubeSphere 3.4, or by another tool where the CRD of 3.4 is installed. */
  readonly storedPassword: string | undefined;
  /** The digest of the hash that was moved out of the object; `''` when none was, or when the password has changed since. */
  readonly passwordMoved: string;
}

export function toUserRecord(object: KubernetesObject, names: AccountNames): UserRecord {
  const { name, uid, resourceVersion } = object.metadata;
  const annotations = asObject(object.metadata['annotations']);
  const [spec, status] = [asObject(object['spec']), asObject(object['status'])];
  return {
    name,
    uid,
    resourceVersion,
    email: text(spec['email']),
    verifiedEmail: text(annotations[names.emailVerified]),
    lang: text(spec['lang']),
    groups: asArray(spec['groups']).filter((group) => typeof group === 'string'),
    labels: object.metadata.labels ?? NO_LABELS,
    state: text(status['state']),
    lastTransitionTime: text(status['lastTransitionTime']),
    lastLoginTime: text(status['lastLoginTime']),
    uninitialized: text(annotations[names.uninitialized]),
    isIncomplete: text(annotations[names.incomplete]) !== '',
    tokensNotBeforeMs: Math.max(
      instant(object.metadata.creationTimestamp),
      instant(annotations[names.tokensNotBefore]),
    ),
    sparedSession: sparedIn(annotations, names),
    isDeleting: text(object.metadata['deletionTimestamp']) !== '',
    hasFinalizer: asArray(object.metadata['finalizers']).includes(names.finalizer),
    storedPassword: text(spec['password']) || undefined,
    passwordMoved: text(annotations[names.passwordMoved]),
  };
}

/** Counts only beside the time that it was written with: every later end of sessions is the end of this one, too. */
function sparedIn(annotations: Readonly<Record<string, unknown>>, names: AccountNames): string {
  const [since = '', session = ''] = text(annotations[names.sparedSession]).split(' ');
  return since !== '' && since === text(annotations[names.tokensNotBefore]) ? session : '';
}

const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({});

/** Returns 0 for a text that is not a time. */
const instant = (value: unknown): number => Date.parse(text(value)) || 0;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Whether this counts as a user: complete, and not being deleted. Others are not shown and cannot sign in. */
export const isThere = ({ isIncomplete, isDeleting }: UserRecord): boolean => !isIncomplete && !isDeleting;

/** The User objects in memory. Reads never wait. */
export interface UserRecords {
  get(name: string): UserRecord | undefined;
  all(): Iterable<UserRecord>;
  /**
   * Calls `changed` with the name of each object that was created, changed or deleted, after `get` shows the change. A new list
   * causes a call for each name that differs.
   */
  onChange(changed: (name: string) => void): void;
  /** Whether the first complete list is in memory. */
  hasSynced(): boolean;
  /** When memory was last proved current. */
  readonly proof: LastProof;
}
