/** The error codes of RFC 6749 5.2, RFC 6750 3.1, RFC 8628 3.5 and OpenID Connect Core that Gatehouse uses. */
export const OAUTH_ERROR_CODES = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_token',
  'login_required',
  'authorization_pending',
  'slow_down',
  'access_denied',
  'expired_token',
  'temporarily_unavailable',
  'server_error',
] as const;

export type OAuthErrorCode = (typeof OAUTH_ERROR_CODES)[number];

export interface OAuthRefusal {
  /** The rows of the contract that have this refusal. They are not sent. */
  readonly ids: readonly string[];
  readonly status: number;
  readonly code: OAuthErrorCode;
  /** One of our own texts, in the characters x20-21, x23-5B, x5D-7E (RFC 6749 5.2); it never repeats input. */
  readonly description: string;
  /** Further headers, such as `WWW-Authenticate`, `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A refusal or failure under /oauth. The error writer turns it into an answer. `cause` is only logged, and only for 5xx.
 */
export class OAuthError extends Error {
  readonly refusal: OAuthRefusal;

  constructor(refusal: OAuthRefusal, cause?: unknown) {
    super(refusal.description, { cause });
    this.name = 'OAuthError';
    this.refusal = refusal;
  }
}
