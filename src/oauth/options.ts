import type { ClientThrottleOptions } from './endpoints/client-throttle.ts';

/** An OAuth client. Its secret is read already, or is in a Secret of the cluster. */
export interface Client {
  /** The `client_id`. */
  readonly name: string;
  readonly secret?: string;
  readonly secretName?: string;
  /** A client that cannot keep a secret and sends none. */
  readonly public: boolean;
  readonly grantTypes: readonly string[];
  /** It may introspect the tokens of every client, not only its own. Default: `false`. */
  readonly introspectAll?: boolean;
  /** Compared byte by byte. */
  readonly postLogoutRedirectURIs: readonly string[];
  /** Default: the settings of the server. */
  readonly accessTokenMaxAgeSeconds?: number;
  readonly accessTokenInactivityTimeoutSeconds?: number;
}

export interface OAuthOptions {
  /** Realm of every challenge. */
  readonly platform: string;
  /** Absolute URL without query, fragment and trailing slash; `iss` of every token. */
  readonly issuer: string;
  /** `aud` of access tokens. Default: the issuer. */
  readonly accessTokenAudience?: string;
  readonly accessTokenMaxAgeSeconds: number;
  /** A refresh token lives this much longer than an access token. */
  readonly accessTokenInactivityTimeoutSeconds: number;
  /** No token lives longer than this after its sign-in. */
  readonly sessionMaxAgeSeconds: number;
  readonly refreshReplayWindowSeconds: number;
  readonly maximumClockSkewSeconds: number;
  /** `false`: a sign-in ends the user's other sessions. */
  readonly multipleLogin: boolean;
  /** Longest text of a bearer. */
  readonly maxBearerBytes: number;
  readonly clients: readonly Client[];
  readonly clientThrottle: ClientThrottleOptions;
}

export interface Lifetimes {
  readonly accessSeconds: number;
  readonly refreshSeconds: number;
}

/** The longest lifetimes of the tokens of one client. */
export function lifetimesOf(client: Client | undefined, options: OAuthOptions): Lifetimes {
  const accessSeconds = client?.accessTokenMaxAgeSeconds ?? options.accessTokenMaxAgeSeconds;
  const idleSeconds = client?.accessTokenInactivityTimeoutSeconds ?? options.accessTokenInactivityTimeoutSeconds;
  return { accessSeconds, refreshSeconds: accessSeconds + idleSeconds };
}

/** How long after its issue a token can be accepted at most. A revocation must be remembered for as long. */
export const longestTokenSeconds = (options: OAuthOptions): number =>
  Math.max(...[undefined, ...options.clients].map((client) => lifetimesOf(client, options).refreshSeconds)) +
  options.maximumClockSkewSeconds;

type Endpoint = 'token' | 'userinfo' | 'keys' | 'revoke' | 'introspect' | 'logout';

/** The URL of an endpoint. An issuer that ends in `/oauth` already contains the path prefix. */
export const endpointUrl = (issuer: string, endpoint: Endpoint): string =>
  `${issuer}${issuer.endsWith('/oauth') ? '' : '/oauth'}/${endpoint}`;
