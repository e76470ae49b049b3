import type { BrowserEndpoints, DevicePages } from './authorize/browser-answer.ts';
import type { Actor, Origin } from './tokens/act.ts';

/** A form POST under /oauth. `checkFormHead` has checked its head, and its body was read within the limit. */
export interface FormRequest extends Origin {
  readonly authorization: string | undefined;
  readonly body: Buffer;
  /** The caller's full address, for the login records that the user may read. */
  readonly address?: string;
  readonly userAgent?: string | undefined;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** The endpoints that accept only a form. */
export type FormEndpointName = 'token' | 'revoke' | 'introspect' | 'device_authorization';

/** A token response (RFC 6749 5.1); the members are in wire order. */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly refresh_token: string;
  /** The remaining lifetime of the access token, in whole seconds. */
  readonly expires_in: number;
  readonly scope?: string;
  /** Present if the scope of the session has `openid` (OpenID Connect Core 3.1.3.3). */
  readonly id_token?: string;
}

/** A device authorization response (RFC 8628 3.2); the members are in wire order. */
export interface DeviceAuthorization {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  /** Whole seconds, as the interval between two polls. */
  readonly expires_in: number;
  readonly interval: number;
}

/** GET or POST /oauth/logout. The parameters are in the query and, with POST, in the form. */
export interface EndSessionRequest extends Origin {
  readonly method: 'GET' | 'POST';
  readonly queryString: string;
  /** The form of a POST, when there was a body. */
  readonly form?: { readonly contentType: string | undefined; readonly body: Buffer };
  readonly authorization: string | undefined;
}

/** With `location`, the client is redirected there (302 after GET, 303 after POST); else it gets 200 `{"message":"success"}`. */
export interface LogoutResponse {
  readonly location?: string;
}

/** A userinfo response (OpenID Connect Core 5.3.2); the members are in wire order. */
interface Userinfo {
  readonly sub: string;
  readonly name?: string;
  readonly email?: string;
  readonly email_verified?: true;
  readonly locale?: string;
  readonly preferred_username?: string;
  readonly groups?: readonly string[];
}

/** An introspection response (RFC 7662 2.2); the members are in wire order. */
export type Introspection = { readonly active: false } | ActiveToken;

interface ActiveToken {
  readonly active: true;
  readonly client_id: string;
  readonly username: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly iss: string;
  readonly exp: number;
  readonly iat: number;
  readonly jti: string;
  readonly scope?: string;
  /** Present for an access token. */
  readonly token_type?: 'Bearer';
}

/** A public document: bytes that are made once for each change, with their strong ETag (quotes included). */
export interface PublicDocument {
  readonly body: Buffer;
  readonly etag: string;
}

/** What devices and the people who allow them reach (RFC 8628). */
export interface DeviceEndpoints extends DevicePages {
  authorizeDevice(request: FormRequest): Promise<DeviceAuthorization>;
}

/** The part of the authorization server that the routes under /oauth need. Every refusal is a thrown or rejected `OAuthError`. */
export interface AuthorizationServer {
  /** Checks content type and query string before the body of a form is read (N-02, N-03). Throws `OAuthError`. */
  checkFormHead(endpoint: FormEndpointName, contentType: string | undefined, queryString: string): void;
  token(request: FormRequest): Promise<TokenResponse>;
  /** RFC 7009: ends the session of the token. Resolves even when there is nothing to end. */
  revoke(request: FormRequest): Promise<void>;
  /** RFC 7662. */
  introspect(request: FormRequest): Promise<Introspection>;
  /**
   * Describes the user of the bearer token in this `Authorization` header. Calls `actorKnown` for the access log. Throws
   * `OAuthError`.
   */
  userinfo(authorization: string | undefined, actorKnown?: (actor: Actor) => void): Userinfo;
  /** Absent if no client has a sign-in by browser or the device grant. */
  readonly browser?: BrowserEndpoints;
  /**
   * Whether pages of this origin may read the answers of the token, userinfo and revocation endpoints and of the documents: those
   * of public clients may, because they run in the browser. Absent if no public client has pages.
   */
  readonly mayRead?: (origin: string) => boolean;
  /** Absent if no client has the device grant. */
  readonly devices?: DeviceEndpoints;
  logout(request: EndSessionRequest): Promise<LogoutResponse>;
  /** The JWKS: public keys in the states next, active and verify-only. */
  keys(): PublicDocument;
  /** Authorization server metadata (RFC 8414, OpenID Connect Discovery): names only what works. */
  metadata(): PublicDocument;
}
