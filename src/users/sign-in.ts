import type { User } from './user.ts';

/** One attempt to sign in with a name (or e-mail) and a password. */
export interface SignInAttempt {
  readonly username: string;
  /** The password as sent, never trimmed; compared as UTF-8 bytes. */
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

/** `busy` means a full gate, with whole seconds ≥ 1 for `Retry-After`. */
type HashResult =
  | { readonly kind: 'ok'; readonly hash: string }
  | { readonly kind: 'busy'; readonly retryAfterSeconds: number };

/** Steps 1 to 7 of a password check: resolve, throttle, gate, exactly one compare, state, buckets. */
export interface PasswordSignIn {
  signIn(attempt: SignInAttempt): Promise<SignInResult>;
  /** The user that a typed name or e-mail names: for the audit trail, which never records what was typed. */
  userOf(typed: string): User | undefined;
  /**
   * Hashes a new password, in the same gate as the compares. Rejects one that bcrypt would cut off: the rules for
   * passwords are checked before.
   */
  hash(password: string, from: Pick<SignInAttempt, 'source' | 'signal'>): Promise<HashResult>;
}

/** What may be typed for a user. */
export interface Spellings {
  readonly name: string;
  readonly email?: string | undefined;
}

/** What the states and the login records of users tell the throttle, and hear from it. */
export interface ThrottleControl {
  /** Empties the buckets of a user on this replica. */
  unlock(user: Spellings): void;
  /** The user signed in from this normalised address `ageMs` ago: a known-good pair for what is left of 24 h. */
  known(user: Spellings, source: string, ageMs: number): void;
  /** Calls `limited` when the bucket that all addresses of a user share is full, once in each window. */
  onLimited(limited: (user: User) => void): void;
}

/** How an attempt of an existing user ended. */
export interface SignInOutcome {
  readonly user: User;
  readonly outcome: 'succeeded' | 'incorrect_password' | 'throttled';
  /** The whole address. */
  readonly address: string;
  readonly userAgent: string;
}

/** Writes down who signed in, for those people to read. Never in the way of a sign-in: it neither waits nor throws. */
export interface SignInRecorder {
  record(outcome: SignInOutcome): void;
}
