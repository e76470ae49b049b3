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
}

/** Looks users up, in memory only. The sources behind it read themselves again when they change. */
export interface UserDirectory {
  byName(name: string): User | undefined;
  /** Exact, case-sensitive. `undefined` when nobody or more than one user has it. */
  byEmail(email: string): User | undefined;
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
