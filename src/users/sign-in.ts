import type { User } from './user.ts';

/** One attempt to sign in with a name (or e-mail) and a password. */
export interface SignInAttempt {
  readonly username: string;
  /** Not trimmed. The sign-in tries its composed and decomposed forms as well (docs/contract/tokens.md, section 10). */
  readonly password: string;
  /** The caller's address, already normalised (IPv6 as /64). */
  readonly source: string;
  /** Aborts when the client disconnects: a queued compare is then dropped. */
  readonly signal: AbortSignal;
}

/**
 * `refused` does not reveal the reason (N-14). `throttled` means a full bucket (N-15), `busy` a full gate; both have whole
 * seconds ≥ 1 for `Retry-After`.
 */
export type SignInResult =
  | { readonly kind: 'ok'; readonly user: User }
  | { readonly kind: 'refused' }
  | { readonly kind: 'throttled' | 'busy'; readonly retryAfterSeconds: number };

/** `busy` means a full gate, with whole seconds ≥ 1 for `Retry-After`. */
type HashResult =
  | { readonly kind: 'ok'; readonly hash: string }
  | { readonly kind: 'busy'; readonly retryAfterSeconds: number };

/** Steps 1 to 7 of a password check: resolve, throttle, gate, compare, state, buckets. */
export interface PasswordSignIn {
  signIn(attempt: SignInAttempt): Promise<SignInResult>;
  /** The user with the typed name or e-mail, for the audit trail, which never records what was typed. */
  userOf(typed: string): User | undefined;
  /**
   * Hashes a new password, behind the same gate as the compares. Rejects a password that bcrypt would cut off. The caller
   * must check the rules for passwords before.
   */
  hash(password: string, from: Pick<SignInAttempt, 'source' | 'signal'>): Promise<HashResult>;
}

/** What a user may type as the name at a sign-in. */
export interface Spellings {
  readonly name: string;
  readonly email?: string | undefined;
}

/** The part of the throttle that the states and the login records of User objects use. */
export interface ThrottleControl {
  /** Empties the buckets of a user on this replica. */
  unlock(user: Spellings): void;
  /** Makes user and address a known-good pair for the rest of 24 h: the user signed in from this normalised address `ageMs` ago. */
  known(user: Spellings, source: string, ageMs: number): void;
  /** Calls `limited`, once in each window, when the bucket of a user for all addresses together is full. */
  onLimited(limited: (user: User) => void): void;
}

/** How an attempt of an existing user ended. */
export interface SignInOutcome {
  readonly user: User;
  readonly outcome: 'succeeded' | 'incorrect_password' | 'throttled';
  /** The full address, not cut to /64. */
  readonly address: string;
  readonly userAgent: string;
}

/** Records sign-ins, for the users themselves to read. `record` returns at once and never throws, so a sign-in does not wait for it. */
export interface SignInRecorder {
  record(outcome: SignInOutcome): void;
}
