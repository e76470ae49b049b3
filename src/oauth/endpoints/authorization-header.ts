import type { OAuthOptions } from '../options.ts';
import type { AccessToken, AccessTokens } from '../tokens/token-verifier.ts';
import { decodeFormText } from './form.ts';
import { invalidToken, malformedBearer, toOAuthError } from './refusals.ts';

/** One `Authorization` header, split by the rule of RFC 9110 11.4, with the scheme in lower case. */
export interface Credentials {
  readonly scheme: string;
  /** What follows the scheme, without the spaces around it; `''` when nothing does. */
  readonly text: string;
}

export function parseAuthorization(header: string | undefined): Credentials | undefined {
  const trimmed = header?.trim();
  if (!trimmed) return undefined;
  const space = trimmed.indexOf(' ');
  if (space < 0) return { scheme: trimmed.toLowerCase(), text: '' };
  return { scheme: trimmed.slice(0, space).toLowerCase(), text: trimmed.slice(space + 1).trim() };
}

/** What an `Authorization` header holds. `unfit`: one token that cannot be ours by its characters or length (N-33). */
export type Bearer =
  | { readonly kind: 'token'; readonly text: string }
  | { readonly kind: 'absent' | 'malformed' | 'unfit' };

/** RFC 6750 2.1, RFC 9110 11.4: the scheme in any case, at least one space, one token. */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/** The only place that reads a bearer, for every path. Another scheme counts as no bearer (N-27). */
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

/** RFC 6749 2.3.1: `base64(form-encoded id ":" form-encoded secret)`; `undefined` when it is not that. */
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
 * The access token that a request under /oauth carries as its bearer; `undefined` when it carries none. A bearer that
 * is malformed or not valid is refused as on the API (N-29, N-33), but with an OAuth error.
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

/** The verifier throws while it cannot judge a token. That must not count against the token. */
function inspect(text: string, verifier: AccessTokens): ReturnType<AccessTokens['inspect']> {
  try {
    return verifier.inspect(text);
  } catch (error) {
    throw toOAuthError(error);
  }
}
