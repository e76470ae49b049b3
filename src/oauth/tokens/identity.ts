/** The verified identity of a caller. */
export interface Identity {
  /** The user's name (`sub`), or `system:serviceaccount:<namespace>:<name>`. */
  readonly name: string;
  readonly uid: string;
  /**
   * The user's current groups without `system:*` and `kubeadm:*`, plus `system:authenticated`. For a service account, the groups
   * that the cluster returns.
   */
  readonly groups: readonly string[];
  /**
   * The groups `system:*` and `kubeadm:*` of the user. They give no rights, and the gateway refuses a user who has any. Absent if
   * there are none.
   */
  readonly withheldGroups?: readonly string[];
  /** Absent for a service account, which did not sign in with us. */
  readonly clientId?: string;
  /** The session; absent for a service account. */
  readonly sid?: string;
}

/** Why a bearer token was refused; also the `result` label of `gatehouse_token_verifications_total`. */
export const TOKEN_FAULTS = ['expired', 'not_yet_valid', 'revoked', 'invalid'] as const;

export type TokenFault = (typeof TOKEN_FAULTS)[number];

export type Verification = { readonly identity: Identity; readonly cached: boolean } | { readonly fault: TokenFault };

/** Verifies any bearer token: at once, or with a promise if the cluster must be asked. */
export interface BearerVerifier {
  /** `text` is the text after the scheme in `Authorization`, exactly as sent; `source` is the caller's normalised address. */
  verify(text: string, source: string): Verification | Promise<Verification>;
}

/** Verifies access tokens from memory: synchronously, without the thread pool and without the network. */
export interface TokenVerifier extends BearerVerifier {
  verify(text: string): Verification;
}
