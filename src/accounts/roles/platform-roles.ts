/** A ClusterRoleBinding that Gatehouse keeps: it makes the platform role of one user. */
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
  /** The kept bindings of a user, by name; the first one is the role that is shown. */
  bindingsOf(user: string): readonly KeptBinding[];
  /** The name of the role that is shown; `undefined` without one. */
  roleOf(user: string): string | undefined;
}
