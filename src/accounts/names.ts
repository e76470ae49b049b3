import { createHash } from 'node:crypto';
import type { ObjectCollection } from '../kubernetes/objects/cluster-objects.ts';

/** The names in the account API that follow from the platform's name (docs/contract/accounts.md, section 3). */
export interface AccountNames {
  readonly platform: string;
  /** `iam.<platform>.io` */
  readonly group: string;
  readonly version: 'v1alpha2';
  /** `iam.<platform>.io/v1alpha2` */
  readonly apiVersion: string;
  /** The prefix of the platform's annotations and labels: `iam.<platform>.io/`. */
  readonly prefix: string;
  /** Annotation: the user's platform role. Answers show it, and writes set the role with it, but it is never stored. */
  readonly globalRole: string;
  /** Annotation: not empty while the user must set a first password. */
  readonly uninitialized: string;
  /** Annotation: the e-mail address that was verified. It says nothing about another address, which the user has now. */
  readonly emailVerified: string;
  /** Annotation: when the password changed last (RFC 3339). */
  readonly lastPasswordChange: string;
  /**
   * Annotation: when the creation of the user began (RFC 3339). A user with it is not shown and cannot sign in. The keeper deletes
   * a user that stays incomplete.
   */
  readonly incomplete: string;
  /**
   * Annotation: tokens issued before this time (RFC 3339) are not accepted. Set when the user is disabled or gets a new password,
   * so that sessions stay ended even if their records are lost, or no replica was running to write them.
   */
  readonly tokensNotBefore: string;
  /**
   * Annotation: a value of `tokensNotBefore`, a blank and the session to which that value does not apply. With any other
   * value of `tokensNotBefore` it means nothing.
   */
  readonly sparedSession: string;
  /**
   * Annotation: a digest of the hash that was moved from the object into the password store. Replicas that still read passwords from
   * objects go on with that hash, which is the user's as before.
   */
  readonly passwordMoved: string;
  /** Annotation: when the role changed last (RFC 3339, with milliseconds). Thereby a change of the role changes the object, too. */
  readonly lastRoleChange: string;
  /** Annotation of a role: the names of the roles that it consists of, as a JSON array. */
  readonly aggregationRoles: string;
  /** Label of a role binding or login record: its user. The value is `userRef(name)`. */
  readonly userRef: string;
  /** Label of ClusterRoles that are platform roles, with the value `true`. */
  readonly assignable: string;
  readonly finalizer: string;
}

export function accountNames(platform: string): AccountNames {
  const group = `iam.${platform}.io`;
  return {
    platform,
    group,
    version: 'v1alpha2',
    apiVersion: `${group}/v1alpha2`,
    prefix: `${group}/`,
    globalRole: `${group}/globalrole`,
    uninitialized: `${group}/uninitialized`,
    emailVerified: `${group}/email-verified`,
    lastPasswordChange: `${group}/last-password-change-time`,
    incomplete: `${group}/incomplete`,
    tokensNotBefore: `${group}/tokens-not-before`,
    sparedSession: `${group}/spared-session`,
    passwordMoved: `${group}/password-moved`,
    lastRoleChange: `${group}/last-role-change-time`,
    aggregationRoles: `${group}/aggregation-roles`,
    userRef: `${group}/user-ref`,
    assignable: `${group}/assignable`,
    finalizer: `finalizers.${platform}.io/users`,
  };
}

/** The longest label value that Kubernetes allows. */
const LONGEST_LABEL_VALUE = 63;

/** The value of the label `userRef`: the name if it fits, else the first 63 hex digits of its SHA-256. */
export const userRef = (name: string): string =>
  name.length <= LONGEST_LABEL_VALUE
    ? name
    : createHash('sha256').update(name).digest('hex').slice(0, LONGEST_LABEL_VALUE);

/** The User objects of the cluster. */
export const usersOf = ({ group, version }: AccountNames): ObjectCollection => ({
  group,
  version,
  resource: 'users',
  kind: 'User',
});

/** The login records of the cluster. */
export const loginRecordsOf = ({ group, version }: AccountNames): ObjectCollection => ({
  group,
  version,
  resource: 'loginrecords',
  kind: 'LoginRecord',
});
