/** `AuthLimitExceeded` blocks only the sign-in; a throttle never ends valid tokens. */
export const USER_STATES = ['Active', 'Disabled', 'AuthLimitExceeded'] as const;

export type UserState = (typeof USER_STATES)[number];

/** The states that people give; the third follows from failed sign-ins. */
export type GivenState = Exclude<UserState, 'AuthLimitExceeded'>;

/** Whether people may give a user this state. */
export const isGivenState = (state: string): state is GivenState => state === 'Active' || state === 'Disabled';

/** A user of the user directory. */
export interface User {
  readonly name: string;
  /** Stable for this user; a user who is deleted and created again has another uid. */
  readonly uid: string;
  readonly email?: string;
  /** Present if an administrator, or a program of theirs, has verified that the address is the user's. */
  readonly emailVerified?: true;
  /** The user's language, as a tag of BCP 47. */
  readonly locale?: string;
  /** bcrypt, `$2a$`, `$2b$` or `$2y$`. Absent: the user cannot sign in with a password. */
  readonly passwordHash?: string;
  readonly groups: readonly string[];
  readonly state: UserState;
  /** Seconds since 1970. Tokens issued before this time are not accepted as this user's. Clocks may differ by the accepted skew. */
  readonly tokensNotBefore?: number;
  /** The session to which `tokensNotBefore` does not apply: in it the person chose the present password. */
  readonly spared?: string;
  /** Not empty: the user must set a first password. Clients read it in the access token. */
  readonly uninitialized?: string;
  /**
   * Set for a User object of the cluster: a change of its password ends its sessions first. The password of any other user
   * may change while we do not run. So the tokens of those users carry a digest of the password hash.
   */
  readonly isObject?: true;
}

/** Finds users. It reads only memory, which the sources keep current. */
export interface UserDirectory {
  byName(name: string): User | undefined;
  /** Ignores the case of ASCII letters. `undefined` when no user has the address, or more than one (A-41, docs/promises.md). */
  byEmail(email: string): User | undefined;
}

/** Says who has an e-mail address, for the code that gives addresses to users. */
export interface EmailOwners {
  /** The names of the users who have the address, without regard to case. */
  ownersOfEmail(email: string): readonly string[];
}

/** All users, from memory. */
export interface UserList {
  all(): Iterable<User>;
}

/** Emits the users whose tokens are no longer valid. */
export interface UserChanges {
  /**
   * Calls `changed` with the name of a known user who is gone, has another uid or password, or was disabled or enabled. The
   * directory already contains the change then.
   */
  onChange(changed: (name: string) => void): void;
}

/** Whether Kubernetes gives the name of a user or group its own meaning (A-31, docs/promises.md). */
export const isClusterOwn = (name: string): boolean => name.startsWith('system:') || name.startsWith('kubeadm:');

/** DNS-1123 labels joined by dots, as Kubernetes names its objects. Matched only against texts of at most 253 characters. */
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST_NAME = 253;

/** Printable ASCII around one `@`. RFC 5321 4.5.3.1.3 allows a path of 256 characters with its angle brackets, so 254 for an address. */
const EMAIL = /^[!-?A-~]+@[!-?A-~]+$/;
const LONGEST_EMAIL = 254;

/**
 * The names of Kubernetes' own administrators. A user with such a name, or one that starts with `system:` or `kubeadm:`, would
 * get the rights of role bindings that were meant for somebody else.
 */
export const RESERVED_NAMES: readonly string[] = ['kubernetes-admin', 'kubernetes-super-admin', 'kube-admin'];
const isReserved = reservedNames(RESERVED_NAMES);

/** Whether the text is an ASCII DNS-1123 subdomain of at most 253 characters. */
export const isUserName = (text: string): boolean => text.length <= LONGEST_NAME && SUBDOMAIN.test(text);

export const isEmail = (text: string): boolean => text.length <= LONGEST_EMAIL && EMAIL.test(text);

/** Whether the name is reserved: nobody can sign in with it, even if a source has such a user. */
export const isReservedName = (name: string): boolean => isReserved(name);

/** Returns a function that recognizes `names`, and all names to which Kubernetes gives a meaning of its own. */
export function reservedNames(names: readonly string[]): (name: string) => boolean {
  const reserved = new Set(names);
  return (name) => reserved.has(name) || isClusterOwn(name);
}
