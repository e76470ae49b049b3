/**
 * The audit trail: what a person who monitors sign-ins needs to know. Its names are part of what we promise, because
 * alerts and queries are written against them.
 */

/** What somebody did, or was refused. One line each, with `result`. */
export type ActName =
  | 'sign_in'
  /** A browser was sent back to a client with an authorization code, and the client redeemed it. */
  | 'code_issued'
  | 'code_redeemed'
  /** A code was redeemed again. Somebody may have stolen it, so the session of its redemption was ended. */
  | 'code_reused'
  /** A person has allowed a device, or refused it, and the device has fetched its tokens or the refusal. */
  | 'device_authorized'
  | 'device_refused'
  | 'device_redeemed'
  | 'refresh'
  /** A refresh token was used again after its replay window. Somebody may have a copy, so its session was ended. */
  | 'refresh_token_reused'
  | 'revocation'
  | 'introspection'
  | 'token_review'
  | 'sign_out'
  /** A user is made, changed or removed through the API: `user` does it to `target`. */
  | 'user_creation'
  | 'user_update'
  | 'user_deletion'
  /** The password of `target` is changed by `user`, who may be the same. */
  | 'password_change'
  /** A call to the cluster. `impersonatedUser` is there if the cluster has answered it. */
  | 'cluster_call'
  /** A client of /oauth, or a caller of the TokenReview webhook, did not prove its identity. */
  | 'client_refused'
  /** A search of audit records: `user` has asked, `namespaces` are those that the query names. */
  | 'audit_read';

export type SecurityEventName =
  | ActName
  /** A stream to the cluster begins. `cluster_call` follows at its end, unless the process dies before. */
  | 'cluster_call_began'
  /** All sessions of a user ended, because the user is gone, disabled or enabled, or has another password. */
  | 'user_sessions_ended'
  /** A caller with a name or group that is reserved for the cluster called the gateway. Nothing was sent. */
  | 'reserved_identity_refused'
  /**
   * Sign-ins of a user or from an address are refused because of earlier failures. Reported once per full bucket.
   */
  | 'sign_in_throttled'
  /** More sign-ins fail than people mistype: guesses spread over many names or addresses. */
  | 'sign_in_failures_many'
  /** A stored password hash cannot be used: malformed, or of a cost outside the accepted range. */
  | 'password_hash_refused'
  /** Nobody can sign in as a user of some source: the name is reserved, or a user of an earlier source has it. */
  | 'user_refused'
  /** Signing keys: created because there were none, and their changes of state. */
  | 'signing_key_created'
  | 'signing_key_published'
  | 'signing_key_activated'
  | 'signing_key_retired'
  | 'signing_key_revoked'
  | 'signing_keys_missing'
  | 'signing_keys_unusable'
  /** Ended sessions, revoked keys or removed users may be unknown here, because the data was not proved current for 120 s. */
  | 'revocation_data_stale'
  /**
   * A user's session record cannot be parsed, or is not named after its user. Requests with that user's tokens get a 503
   * until the record is repaired or deleted.
   */
  | 'session_record_unreadable'
  /** The Secret with a user's password is not one of ours. Nobody can sign in with it until it is gone or written again. */
  | 'password_record_unreadable'
  /**
   * A User object has a field that counts as absent: an e-mail that is no address, or an unknown state (the user then
   * counts as disabled). Reported once for each object.
   */
  | 'user_object_faulty'
  /** A password was found in a User object, and moved to the user's Secret, hashed, or removed. */
  | 'password_moved';

/**
 * The members of an event: names and ids of what it is about, such as the user, the client or the key. Those that a caller sends,
 * in a path or in the headers of an impersonation, are escaped, so that they stay on one line. No member is a secret or any other
 * text of a caller.
 */
export type SecurityEventFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/**
 * The request in which somebody did something. A trail in Kubernetes' form records it. It tells no body, no credential and no value of a
 * parameter.
 */
export interface ReportedRequest {
  /** Its id. No caller can choose it. */
  readonly id: string;
  /** When it began: monotonic milliseconds. */
  readonly startedAt: number;
  /** The path of a call to the cluster; otherwise the template of the route, because a caller may have typed a secret in the place of a name. */
  readonly path: string | undefined;
  /** Cut and escaped. */
  readonly userAgent: string | undefined;
  /** The caller whose credential was verified before the request did anything; absent for a sign-in. */
  readonly caller: ReportedUser | undefined;
  /** The user whom the caller asks to impersonate and may impersonate. */
  readonly impersonated: ReportedUser | undefined;
  /** The status of the answer, once it is final; 499 if the client disconnected before. */
  readonly status: number;
  /** Runs `run` once, when the status is final: as soon as the head of the answer is written, or the client has gone; at once if it is. */
  whenAnswered(run: () => void): void;
}

/** A user of a request. */
export interface ReportedUser {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
}

/** Reports security events: a line of the audit trail with the name of the event, and a counter. */
export interface SecurityEvents {
  /** `request`: absent for what no request did. */
  report(event: SecurityEventName, fields: SecurityEventFields, request?: ReportedRequest): void;
}
