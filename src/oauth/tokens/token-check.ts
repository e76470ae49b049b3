import type { Clock } from '../../runtime/clock.ts';
import type { User } from '../../users/user.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { endpointUrl, longestTokenSeconds, type OAuthOptions } from '../options.ts';
import {
  ACCESS,
  type RefreshClaims,
  type TokenClaims,
  type TokenType,
  toRefreshClaims,
  toTokenClaims,
} from './claims.ts';
import { type CompactJws, isPlainRs256, isSigned, parseCompactJws } from './compact-jws.ts';
import type { TokenFault } from './identity.ts';
import type { LiveUsers } from './user-standing.ts';

export interface CheckedToken {
  readonly claims: TokenClaims;
  /** The key that verified it: a token is good only as long as its key. */
  readonly kid: string;
  /** When the token expires for us, in seconds. */
  readonly endsAt: number;
}

/**
 * Checks text, header, signature, claims and client, in this order; nothing that depends on the state of sessions or
 * users.
 */
export type TokenCheck = (text: string) => CheckedToken | { readonly fault: TokenFault };

/** Our own tokens have a quarter of this at most. A longer text is refused without any cryptography. */
export const LONGEST_TOKEN = 8 * 1024;

const INVALID = { fault: 'invalid' } as const;
const REVOKED = { fault: 'revoked' } as const;

/**
 * Builds the check of one type of token. The check is synchronous and takes about 0.1 ms. In the thread pool it would
 * wait behind password hashes.
 */
export function createTokenCheck(
  type: TokenType,
  options: OAuthOptions,
  parts: { readonly keys: Pick<SigningKeys, 'verificationKey'>; readonly clock: Clock },
): TokenCheck {
  const audience = audienceOf(type, options);
  const endOf = createTokenEnd(options);
  const clients = new Set(options.clients.map((client) => client.name));
  return (text) => {
    const jws = text.length <= LONGEST_TOKEN ? parseCompactJws(text) : undefined;
    const kid = jws && headerKid(jws, type);
    const key = kid === undefined ? undefined : parts.keys.verificationKey(kid);
    if (!jws || kid === undefined || !key || !isSigned(jws, key)) return INVALID;
    const claims = toTokenClaims(jws.claims);
    if (!claims || claims.iss !== options.issuer || !claims.aud.includes(audience)) return INVALID;
    if (jws.claims['token_type'] !== type.tokenType) return INVALID;
    const token = { claims, kid, endsAt: endOf(claims) };
    const fault = timeFault(token, parts.clock.now() / 1000, options.maximumClockSkewSeconds);
    if (fault) return { fault };
    // When a client is removed from the configuration, its tokens are no longer accepted. The configuration changes at
    // a restart only, so a token that passed stays good for as long as this process remembers it.
    return clients.has(claims.client_id) ? token : REVOKED;
  };
}

/** `aud` of the tokens of a type: access tokens are for the API, refresh tokens for the token endpoint alone. */
export const audienceOf = (type: TokenType, options: OAuthOptions): string =>
  type === ACCESS ? (options.accessTokenAudience ?? options.issuer) : endpointUrl(options.issuer, 'token');

/** The `kid` of a header, if all else in it is as we write it. `typ` tells the types of token apart (N-36). */
function headerKid({ header }: CompactJws, type: TokenType): string | undefined {
  const { typ, kid } = header;
  const isOurs = isPlainRs256(header) && (typ === type.typ || typ === `application/${type.typ}`);
  return isOurs && typeof kid === 'string' ? kid : undefined;
}

/**
 * When a token ends, skew included, in seconds. A token that was issued under longer lifetimes than today's ends with
 * the longest of today's, because revocations are forgotten then.
 */
function createTokenEnd(options: OAuthOptions): (claims: TokenClaims) => number {
  const longest = longestTokenSeconds(options);
  return ({ exp, iat }) => Math.min(exp + options.maximumClockSkewSeconds, iat + longest);
}

/** RFC 7519 4.1.4 to 4.1.6, with one skew for all of them (N-37). */
function timeFault({ claims, endsAt }: CheckedToken, now: number, skew: number): TokenFault | undefined {
  const { iat, nbf = 0 } = claims as TokenClaims & { readonly nbf?: number };
  if (endsAt <= now) return 'expired';
  return iat > now + skew || nbf > now + skew ? 'not_yet_valid' : undefined;
}

interface RefreshToken {
  readonly claims: RefreshClaims;
  readonly user: User;
}

/** Checks a refresh token apart from its session: whether that has ended or rotated is left to the session record. */
export type RefreshTokens = (text: string) => RefreshToken | undefined;

export interface RefreshTokenParts {
  /** The check of refresh tokens. */
  readonly check: TokenCheck;
  readonly liveUser: LiveUsers;
  readonly clock: Clock;
}

/** Checks the text, signature and claims, then the user, then the age of the session, counted from its sign-in. */
export function createRefreshTokens(options: OAuthOptions, parts: RefreshTokenParts): RefreshTokens {
  return (text) => {
    const checked = parts.check(text);
    const claims = 'claims' in checked ? toRefreshClaims(checked.claims) : undefined;
    const user = claims && parts.liveUser(claims);
    if (!claims || !user) return undefined;
    const endsAt = claims.auth_time + options.sessionMaxAgeSeconds;
    return endsAt * 1000 > parts.clock.now() ? { claims, user } : undefined;
  };
}
