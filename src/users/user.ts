/** `AuthLimitExceeded` blocks only the sign-in; a throttle never ends live tokens. */
export type UserState = 'Active' | 'Disabled' | 'AuthLimitExceeded';

/** Somebody who may sign in, as the user directory knows them. */
export interface User {
  readonly name: string;
  /** Stable for this user: a user who is deleted and created again has another one. */
  readonly uid: string;
  readonly email?: string;
  /** Language tag of BCP 47. */
  readonly locale?: string;
  /** bcrypt, `$2a$`, `$2b$` or `$2y$`. Absent: no sign-in by password. */
  readonly passwordHash?: string;
  readonly groups: readonly string[];
  readonly state: UserState;
  /** Seconds since 1970: no token that was issued before is this user's. Clocks may differ by the accepted skew. */
  readonly tokensNotBefore?: number;
  /** Not empty: must set a first password. Told to clients in the access token. */
  readonly uninitialized?: string;
  /**
   * A User object of the cluster: a change of its password ends its sessions first. The tokens of all other users carry a
   * digest of the password hash, because we do not learn of a change that is made while we do not run.
   */
  readonly isObject?: true;
}

/** Looks users up, in memory only. The sources behind it read themselves again when they change. */
export interface UserDirectory {
  byName(name: string): User | undefined;
  /** Without regard to the case of ASCII letters. `undefined` when nobody has it, or more than one user has it in any case. */
  byEmail(email: string): User | undefined;
}

/** Who has an e-mail address; the code that gives addresses to users asks this. */
export interface EmailOwners {
  /** The names of those who have it, without regard to case. */
  ownersOfEmail(email: string): readonly string[];
}

/** All users, read from memory. For metrics; to find one user, ask the directory. */
export interface UserList {
  all(): Iterable<User>;
}

/** Emits the users whose tokens are no longer valid. */
export interface UserChanges {
  /**
   * Calls `changed` with the name of a known user who is gone, has another uid or password, or was disabled or enabled.
   * The directory already answers with the change by then.
   */
  onChange(changed: (name: string) => void): void;
}

/** Whether a name of a user or group is one that Kubernetes gives its own meaning. */
export const isClusterOwn = (name: string): boolean => name.startsWith('system:') || name.startsWith('kubeadm:');

/**
 * DNS-1123 labels joined by dots, as Kubernetes names its objects. Names have at most 253 characters, so matching stays
 * fast.
 */
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST_NAME = 253;

/** Printable ASCII around one `@`; RFC 5321 4.5.3.1.3 leaves 254 characters for an address. */
const EMAIL = /^[!-?A-~]+@[!-?A-~]+$/;
const LONGEST_EMAIL = 254;

/**
 * Names of Kubernetes' own administrators, and what starts with `system:` or `kubeadm:`: a user with such a name would
 * inherit role bindings that were meant for somebody else.
 */
export const RESERVED_NAMES: readonly string[] = ['kubernetes-admin', 'kubernetes-super-admin', 'kube-admin'];
const isReserved = reservedNames(RESERVED_NAMES);

/** An ASCII DNS-1123 subdomain of at most 253 characters. */
export const isUserName = (text: string): boolean => text.length <= LONGEST_NAME && SUBDOMAIN.test(text);

export const isEmail = (text: string): boolean => text.length <= LONGEST_EMAIL && EMAIL.test(text);

/** Names that nobody can sign in as, even if a source of users has them. */
export const isReservedName = (name: string): boolean => isReserved(name);

/** Whether a name is one of these, or one that Kubernetes gives its own meaning. */
export function reservedNames(names: readonly string[]): (name: string) => boolean {
  const reserved = new Set(names);
  return (name) => reserved.has(name) || isClusterOwn(name);
}
