/** The codes of RFC 6749 5.2, RFC 6750 3.1 and OpenID Connect Core that Gatehouse answers with. */
export const OAUTH_ERROR_CODES = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_token',
  'login_required',
  'temporarily_unavailable',
  'server_error',
] as const;

export type OAuthErrorCode = (typeof OAUTH_ERROR_CODES)[number];

export interface OAuthRefusal {
  readonly status: number;
  readonly code: OAuthErrorCode;
  /** Fixed text of ours in x20-21, x23-5B, x5D-7E (RFC 6749 5.2); never echoes input. */
  readonly description: string;
  /** Further headers, e.g. `WWW-Authenticate`, `Allow`, `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A refusal or failure under /oauth, as a value. The one error writer turns it into bytes. `cause` is logged for 5xx
 * only.
 */
export class OAuthError extends Error {
  readonly refusal: OAuthRefusal;

  constructor(refusal: OAuthRefusal, cause?: unknown) {
    super(refusal.description, { cause });
    this.name = 'OAuthError';
    this.refusal = refusal;
  }
}
