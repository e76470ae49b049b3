/**
 * What the person who watches over sign-ins wants to know of. The names are part of what we promise: alerts and queries
 * are written against them.
 */
export type SecurityEventName =
  /** A refresh token came again after its replay window: somebody may have a copy, so its session was ended. */
  | 'refresh_token_reused'
  /** A session, or all of a user's, ended before its time. */
  | 'session_ended'
  | 'user_sessions_ended'
  /** Sign-ins of a user or from an address are turned away because of earlier failures. Told once per full bucket. */
  | 'sign_in_throttled'
  /** More sign-ins fail than people mistype: guesses spread over many names or addresses. */
  | 'sign_in_failures_many'
  /** A stored password hash cannot be used: malformed, or of a cost outside the accepted range. */
  | 'password_hash_refused'
  /** A source states a user whom nobody can sign in as: the name is reserved, or another source has it first. */
  | 'user_refused'
  /** States of signing keys. */
  | 'signing_key_published'
  | 'signing_key_activated'
  | 'signing_key_retired'
  | 'signing_key_revoked'
  | 'signing_keys_missing'
  | 'signing_keys_unusable'
  /** Ended sessions, revoked keys or removed users may be unknown here: a watch has been failing for a minute. */
  | 'revocation_data_stale'
  /** The record of a user's sessions is not one of ours: that user's tokens are neither taken nor refused until it goes. */
  | 'session_record_unreadable';

/** Names and ids that tell which; never a secret, never what a caller typed. */
type SecurityEventFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** Reports security events: a log line with the member `event`, and a counter. */
export interface SecurityEvents {
  report(event: SecurityEventName, fields: SecurityEventFields): void;
}
