/** `AuthLimitExceeded` blocks sign-in only; a throttle never ends live tokens. */
export type UserState = 'Active' | 'Disabled' | 'AuthLimitExceeded';

/** Somebody who may sign in, as the user directory knows them. */
export interface User {
  readonly name: string;
  /** Stable for this user: a deleted and recreated namesake has another one. */
  readonly uid: string;
  readonly email?: string;
  /** Language tag of BCP 47. */
  readonly locale?: string;
  /** bcrypt, `$2a$`, `$2b$` or `$2y$`. Absent: no sign-in by password. */
  readonly passwordHash?: string;
  readonly groups: readonly string[];
  readonly state: UserState;
}

/** Who exists. Reads memory only; the sources behind it re-read themselves on change. */
export interface UserDirectory {
  byName(name: string): User | undefined;
  /** Exact, case-sensitive. `undefined` when nobody or more than one user has it. */
  byEmail(email: string): User | undefined;
}

/** Everybody who exists, read from memory. For figures: whoever looks for one user asks the directory. */
export interface UserList {
  all(): Iterable<User>;
}

/** Tells who is no longer whom tokens were issued to. */
export interface UserChanges {
  /**
   * `changed` is called with the name of a known user who is gone, has another uid or another password, or was disabled
   * or enabled; when the directory already answers with the change.
   */
  onChange(changed: (name: string) => void): void;
}

/** Users and groups that Kubernetes gives a meaning of its own. */
export const isClusterOwn = (name: string): boolean => name.startsWith('system:') || name.startsWith('kubeadm:');
