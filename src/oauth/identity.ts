/** Who is calling, once a bearer has been verified (step 9 of the verification). */
export interface Identity {
  /** The user's name (`sub`). */
  readonly name: string;
  readonly uid: string;
  /** The user's current groups without `system:*` and `kubeadm:*`, plus `system:authenticated`. */
  readonly groups: readonly string[];
  readonly clientId: string;
  /** The session. */
  readonly sid: string;
}

/** Why a bearer was not accepted; also the `result` label of `gatehouse_token_verifications_total`. */
export type TokenFault = 'expired' | 'not_yet_valid' | 'revoked' | 'invalid';

export type Verification = { readonly identity: Identity; readonly cached: boolean } | { readonly fault: TokenFault };

/** Verifies access tokens from memory: synchronous, off the thread pool, no network. */
export interface TokenVerifier {
  /** `text` is what follows the scheme in `Authorization`, exactly as sent. */
  verify(text: string): Verification;
}
