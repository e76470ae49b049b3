import type { OAuthOptions } from '../options.ts';
import type { AccessToken, AccessTokens } from '../tokens/token-verifier.ts';
import { decodeFormText } from './form.ts';
import { invalidToken, malformedBearer, toOAuthError } from './refusals.ts';

/** An `Authorization` header, split as in RFC 9110 11.4, with the scheme in lower case. */
export interface Credentials {
  readonly scheme: string;
  /** The text after the scheme, without the spaces around it; `''` if there is none. */
  readonly text: string;
}

export function parseAuthorization(header: string | undefined): Credentials | undefined {
  const trimmed = header?.trim();
  if (!trimmed) return undefined;
  const space = trimmed.indexOf(' ');
  if (space < 0) return { scheme: trimmed.toLowerCase(), text: '' };
  return { scheme: trimmed.slice(0, space).toLowerCase(), text: trimmed.slice(space + 1).trim() };
}

/** The bearer token of an `Authorization` header. `unfit`: a token that cannot be ours because of its characters or length (N-33). */
export type Bearer =
  | { readonly kind: 'token'; readonly text: string }
  | { readonly kind: 'absent' | 'malformed' | 'unfit' };

/** The scheme in upper or lower case, at least one space, and one token (RFC 6750 2.1, RFC 9110 11.4). */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * Reads the bearer token of a user, on any path. Nothing else does; `caller-authentication.ts` reads only the bearers of the
 * webhook's callers. Another scheme counts as no bearer token (N-27).
 */
export function readBearer(header: string | undefined, maxBytes: number): Bearer {
  const text = header === undefined ? undefined : BEARER.exec(header)?.[1];
  if (text !== undefined) return text.length > maxBytes ? { kind: 'unfit' } : { kind: 'token', text };
  if (header === undefined || !/^bearer(?: |$)/i.test(header)) return { kind: 'absent' };
  return { kind: /^bearer +[^ ]+$/i.test(header) ? 'unfit' : 'malformed' };
}

export interface BasicCredentials {
  readonly id: string;
  readonly secret: string;
}

/** Parses Basic credentials of a client, `base64(form-encoded id ":" form-encoded secret)` (RFC 6749 2.3.1); `undefined` if malformed. */
export function parseBasic(text: string): BasicCredentials | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const pair = Buffer.from(text, 'base64').toString('latin1');
  const colon = pair.indexOf(':');
  if (colon < 0) return undefined;
  const id = decodeFormText(pair.slice(0, colon));
  const secret = decodeFormText(pair.slice(colon + 1));
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/**
 * The access token that a request under /oauth has as its bearer token; `undefined` if it has none. A malformed or invalid bearer
 * token is refused as on the API (N-29, N-33), but with an OAuth error.
 */
export type BearerTokens = (authorization: string | undefined) => AccessToken | undefined;

export function createBearerTokens({ platform, maxBearerBytes }: OAuthOptions, verifier: AccessTokens): BearerTokens {
  return (authorization) => {
    const bearer = readBearer(authorization, maxBearerBytes);
    if (bearer.kind === 'absent') return undefined;
    if (bearer.kind === 'malformed') throw malformedBearer(platform);
    const token = bearer.kind === 'token' ? inspect(bearer.text, verifier) : undefined;
    if (!token || 'fault' in token) throw invalidToken(platform);
    return token;
  };
}

/** Inspects a token. When the verifier throws because its data is missing, the answer is a 503 and not "invalid token". */
function inspect(text: string, verifier: AccessTokens): ReturnType<AccessTokens['inspect']> {
  try {
    return verifier.inspect(text);
  } catch (error) {
    throw toOAuthError(error);
  }
}
