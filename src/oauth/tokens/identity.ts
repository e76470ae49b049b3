/** Who is calling, once a bearer has been verified (step 9 of the verification). */
export interface Identity {
  /** The user's name (`sub`), or `system:serviceaccount:<namespace>:<name>`. */
  readonly name: string;
  readonly uid: string;
  /**
   * The user's current groups without `system:*` and `kubeadm:*`, plus `system:authenticated`. For a service account:
   * the groups that the cluster reports.
   */
  readonly groups: readonly string[];
  /** Groups that the user has been given and that count nowhere: `system:*` and `kubeadm:*`. Absent without any. */
  readonly withheldGroups?: readonly string[];
  /** Absent for a service account, which did not sign in with us. */
  readonly clientId?: string;
  /** The session; absent for a service account. */
  readonly sid?: string;
}

/** Why a bearer was refused; also the `result` label of `gatehouse_token_verifications_total`. */
export const TOKEN_FAULTS = ['expired', 'not_yet_valid', 'revoked', 'invalid'] as const;

export type TokenFault = (typeof TOKEN_FAULTS)[number];

export type Verification = { readonly identity: Identity; readonly cached: boolean } | { readonly fault: TokenFault };

/** Judges any bearer: at once, or by promise when the cluster must be asked. */
export interface BearerVerifier {
  /** `text` is what follows the scheme in `Authorization`, exactly as sent; `source` the caller's normalised address. */
  verify(text: string, source: string): Verification | Promise<Verification>;
}

/** Verifies access tokens from memory: synchronous, off the thread pool, no network. */
export interface TokenVerifier extends BearerVerifier {
  verify(text: string): Verification;
}
