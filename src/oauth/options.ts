import type { ClientThrottleOptions } from './endpoints/client-throttle.ts';

/** The grant type of RFC 8628 3.4. */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** An OAuth client. Its secret was read from the configuration (`secret`), or is in a Secret of the cluster (`secretName`). */
export interface Client {
  /** The `client_id`. */
  readonly name: string;
  readonly secret?: string;
  readonly secretName?: string;
  /** Whether the client cannot keep a secret, and sends none. */
  readonly public: boolean;
  readonly grantTypes: readonly string[];
  /** Whether it may introspect the tokens of every client and not only its own. Default: `false`. */
  readonly introspectAll?: boolean;
  /** Where a browser may be sent with a code; empty: the client has no sign-in by browser. */
  readonly redirectURIs: readonly string[];
  /** `prompt`: the person is asked. `deny`: every authorization request is refused. Default: `auto`, without a question. */
  readonly grantMethod?: 'auto' | 'prompt' | 'deny';
  /** Compared byte by byte. */
  readonly postLogoutRedirectURIs: readonly string[];
  /** Default: the setting of the server. */
  readonly accessTokenMaxAgeSeconds?: number;
  readonly accessTokenInactivityTimeoutSeconds?: number;
  /** Default: that of its access tokens. */
  readonly idTokenMaxAgeSeconds?: number;
}

export interface OAuthOptions {
  /** The realm of every challenge. */
  readonly platform: string;
  /** The `iss` of every token: an absolute URL without query, fragment and trailing slash. */
  readonly issuer: string;
  /** The `aud` of access tokens. Default: the issuer. */
  readonly accessTokenAudience?: string;
  readonly accessTokenMaxAgeSeconds: number;
  /** A refresh token lives this much longer than its access token. */
  readonly accessTokenInactivityTimeoutSeconds: number;
  /** No token is valid longer than this after its sign-in. */
  readonly sessionMaxAgeSeconds: number;
  /** For this long after a password a browser is signed in, and for this long after its last authorization request. */
  readonly browserSessionMaxAgeSeconds: number;
  readonly browserSessionIdleSeconds: number;
  /** A user without an e-mail address gets `<name>@<domain>` in ID tokens and userinfo. Absent: no address. */
  readonly emailFallbackDomain?: string;
  readonly refreshReplayWindowSeconds: number;
  readonly maximumClockSkewSeconds: number;
  /** If `false`, a sign-in ends the user's other sessions. */
  readonly multipleLogin: boolean;
  /** A longer bearer token is refused. */
  readonly maxBearerBytes: number;
  readonly clients: readonly Client[];
  /** Whether this server has a page of its own, to which people sign in. Default: no. */
  readonly hasPage?: boolean;
  readonly clientThrottle: ClientThrottleOptions;
}

export interface Lifetimes {
  readonly accessSeconds: number;
  readonly refreshSeconds: number;
}

/** The lifetimes of a client's tokens; the end of the session may shorten them. */
export function lifetimesOf(client: Client | undefined, options: OAuthOptions): Lifetimes {
  const accessSeconds = client?.accessTokenMaxAgeSeconds ?? options.accessTokenMaxAgeSeconds;
  const idleSeconds = client?.accessTokenInactivityTimeoutSeconds ?? options.accessTokenInactivityTimeoutSeconds;
  return { accessSeconds, refreshSeconds: accessSeconds + idleSeconds };
}

/** The lifetime of a client's ID tokens. */
export const idTokenSeconds = (client: Client, options: OAuthOptions): number =>
  client.idTokenMaxAgeSeconds ?? lifetimesOf(client, options).accessSeconds;

/** The longest time for which any token is accepted after it was issued. A revocation must be remembered for as long. */
export const longestTokenSeconds = (options: OAuthOptions): number =>
  Math.max(...[undefined, ...options.clients].map((client) => lifetimesOf(client, options).refreshSeconds)) +
  options.maximumClockSkewSeconds;

type Endpoint =
  | 'authorize'
  | 'device_authorization'
  | 'device'
  | 'token'
  | 'userinfo'
  | 'keys'
  | 'revoke'
  | 'introspect'
  | 'logout';

/** The URL of an endpoint. An issuer that ends in `/oauth` already contains the path prefix. */
export const endpointUrl = (issuer: string, endpoint: Endpoint): string =>
  `${issuer}${issuer.endsWith('/oauth') ? '' : '/oauth'}/${endpoint}`;
