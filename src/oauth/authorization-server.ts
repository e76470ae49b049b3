/** A form POST under /oauth, as HTTP delivers it. The body was read within its limit. */
export interface FormRequest {
  readonly contentType: string | undefined;
  /** What follows `?`, raw; `''` when there is none. */
  readonly queryString: string;
  readonly authorization: string | undefined;
  readonly body: Buffer;
  /** The caller's normalised address. */
  readonly source: string;
  /** Aborts when the client hung up. */
  readonly signal: AbortSignal;
}

/** RFC 6749 5.1; members in wire order. */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly refresh_token: string;
  /** Whole seconds of life left of the access token. */
  readonly expires_in: number;
  readonly scope?: string;
}

/** GET or POST /oauth/logout; `parameters` are those of the query and, for POST, of the form. */
export interface LogoutRequest {
  readonly method: 'GET' | 'POST';
  readonly queryString: string;
  /** The form of a POST, when there was a body. */
  readonly form?: { readonly contentType: string | undefined; readonly body: Buffer };
  readonly authorization: string | undefined;
}

/** `location`: redirect there (302 after GET, 303 after POST), else 200 `{"message":"success"}`. */
export interface LogoutResponse {
  readonly location?: string;
}

/** A public document: bytes made once per change, with their strong ETag (quotes included). */
export interface PublicDocument {
  readonly body: Buffer;
  readonly etag: string;
}

/** What the HTTP routes under /oauth need. Every refusal is a rejected or thrown `OAuthError`. */
export interface AuthorizationServer {
  /** Checks that come before the body is read: content type and query string (N-02, N-03). Throws `OAuthError`. */
  checkFormHead(contentType: string | undefined, queryString: string): void;
  token(request: FormRequest): Promise<TokenResponse>;
  logout(request: LogoutRequest): Promise<LogoutResponse>;
  /** JWKS: public keys in state next, active and verify-only. */
  keys(): PublicDocument;
  /** Authorization server metadata (RFC 8414, OpenID Connect Discovery): names only what works. */
  metadata(): PublicDocument;
}
