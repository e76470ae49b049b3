import type { User } from './user.ts';

/** One attempt to sign in with a name (or e-mail) and a password. */
export interface SignInAttempt {
  readonly username: string;
  /** As sent, never trimmed or normalised; compared as UTF-8 bytes. */
  readonly password: string;
  /** The caller's address, already normalised (IPv6 as /64). */
  readonly source: string;
  /** Aborts when the client hung up: a queued compare is then dropped. */
  readonly signal: AbortSignal;
}

/**
 * `refused` does not tell the reason (N-14). `throttled` means a full bucket (N-15), `busy` a full gate; both carry
 * whole seconds ≥ 1 for `Retry-After`.
 */
export type SignInResult =
  | { readonly kind: 'ok'; readonly user: User }
  | { readonly kind: 'refused' }
  | { readonly kind: 'throttled' | 'busy'; readonly retryAfterSeconds: number };

/** Steps 1 to 7 of a password check: resolve, throttle, gate, exactly one compare, state, buckets. */
export interface PasswordSignIn {
  signIn(attempt: SignInAttempt): Promise<SignInResult>;
  /** The user that a typed name or e-mail names: for the audit trail, which never records what was typed. */
  userOf(typed: string): User | undefined;
}
