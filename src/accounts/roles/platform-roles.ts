/** A kept binding: a ClusterRoleBinding in the form that Gatehouse writes. It gives one user a platform role. */
export interface KeptBinding {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The name of the ClusterRole. */
  readonly role: string;
}

/** Platform roles and who has them, in memory (docs/contract/accounts.md, section 7). */
export interface PlatformRoles {
  /** Whether a ClusterRole of this name exists and may be given to users. */
  isAssignable(role: string): boolean;
  /** The kept bindings of a user, sorted by name. Answers show the role of the first one. */
  bindingsOf(user: string): readonly KeptBinding[];
  /** The name of the role that answers show; `undefined` without one. */
  roleOf(user: string): string | undefined;
}
