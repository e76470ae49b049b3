/**
 * The audit trail: what the person who watches over sign-ins needs to know. Its names are part of what we promise,
 * because alerts and queries are written against them.
 */

/** What somebody did, or was refused. One line each, with `result`. */
export type ActName =
  | 'sign_in'
  | 'refresh'
  /** A refresh token was used again after its replay window. Somebody may have a copy, so its session was ended. */
  | 'refresh_token_reused'
  | 'revocation'
  | 'introspection'
  | 'token_review'
  | 'sign_out'
  /** A client of /oauth, or a caller of the TokenReview webhook, who did not prove who it is. */
  | 'client_refused';

export type SecurityEventName =
  | ActName
  /** All sessions of a user ended, because the user is gone, disabled or enabled, or has another password. */
  | 'user_sessions_ended'
  /**
   * Sign-ins of a user or from an address are turned away because of earlier failures. Reported once per full bucket.
   */
  | 'sign_in_throttled'
  /** More sign-ins fail than people mistype: guesses spread over many names or addresses. */
  | 'sign_in_failures_many'
  /** A stored password hash cannot be used: malformed, or of a cost outside the accepted range. */
  | 'password_hash_refused'
  /** A source has a user that nobody can sign in as: the name is reserved, or an earlier source has it. */
  | 'user_refused'
  /** Signing keys: created because there were none, and their changes of state. */
  | 'signing_key_created'
  | 'signing_key_published'
  | 'signing_key_activated'
  | 'signing_key_retired'
  | 'signing_key_revoked'
  | 'signing_keys_missing'
  | 'signing_keys_unusable'
  /** Ended sessions, revoked keys or removed users may be unknown here: nothing has proved otherwise for 120 s. */
  | 'revocation_data_stale'
  /**
   * The record of a user's sessions is not one of ours. That user's tokens are neither accepted nor refused until it is
   * gone.
   */
  | 'session_record_unreadable';

/** Names and ids of what is concerned; never a secret, never what a caller typed. */
export type SecurityEventFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** Reports security events: a line of the audit trail with the member `event`, and a counter. */
export interface SecurityEvents {
  report(event: SecurityEventName, fields: SecurityEventFields): void;
}
