/**
 * The audit trail: what the person who watches over sign-ins wants to know of. The names are part of what we promise: alerts and
 * queries are written against them.
 */

/** What somebody did, or was refused. One line for each, with `result`. */
export type ActName =
  | 'sign_in'
  | 'refresh'
  /** A refresh token came again after its replay window: somebody may have a copy, so its session was ended. */
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
  /** Sign-ins of a user or from an address are turned away because of earlier failures. Told once per full bucket. */
  | 'sign_in_throttled'
  /** More sign-ins fail than people mistype: guesses spread over many names or addresses. */
  | 'sign_in_failures_many'
  /** A stored password hash cannot be used: malformed, or of a cost outside the accepted range. */
  | 'password_hash_refused'
  /** A source states a user whom nobody can sign in as: the name is reserved, or another source has it first. */
  | 'user_refused'
  /** Signing keys: made because there were none, and their changes of state. */
  | 'signing_key_created'
  | 'signing_key_published'
  | 'signing_key_activated'
  | 'signing_key_retired'
  | 'signing_key_revoked'
  | 'signing_keys_missing'
  | 'signing_keys_unusable'
  /** Ended sessions, revoked keys or removed users may be unknown here: for 120 s nothing has proved otherwise. */
  | 'revocation_data_stale'
  /** The record of a user's sessions is not one of ours: that user's tokens are neither taken nor refused until it goes. */
  | 'session_record_unreadable';

/** Names and ids that tell which; never a secret, never what a caller typed. */
export type SecurityEventFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** Reports security events: a line of the audit trail with the member `event`, and a counter. */
export interface SecurityEvents {
  report(event: SecurityEventName, fields: SecurityEventFields): void;
}
