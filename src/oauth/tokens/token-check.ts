import type { Clock } from '../../runtime/clock.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { endpointUrl, longestTokenSeconds, type OAuthOptions } from '../options.ts';
import { ACCESS, type TokenClaims, type TokenType, toTokenClaims } from './claims.ts';
import { type CompactJws, isPlainRs256, isSigned, parseCompactJws } from './compact-jws.ts';
import type { TokenFault } from './identity.ts';

export interface CheckedToken {
  readonly claims: TokenClaims;
  /** The key that verified it: a token is good no longer than its key. */
  readonly kid: string;
  /** Seconds: when it is expired for us. */
  readonly endsAt: number;
}

/** Text, header, signature, claims, client, in this order; nothing that depends on the state of sessions or users. */
export type TokenCheck = (text: string) => CheckedToken | { readonly fault: TokenFault };

/** Ours have a quarter of it at most: what is longer is refused without any cryptography. */
export const LONGEST_TOKEN = 8 * 1024;

const INVALID = { fault: 'invalid' } as const;
const REVOKED = { fault: 'revoked' } as const;

/** Builds the check of one type of token. Synchronous: about 0.1 ms, off the thread pool, where hashes would delay it. */
export function createTokenCheck(
  type: TokenType,
  options: OAuthOptions,
  parts: { readonly keys: SigningKeys; readonly clock: Clock },
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
    // A client that was taken out of the configuration takes its tokens with it. It changes at a restart only, so what is
    // found good stays so for as long as this process remembers it.
    return clients.has(claims.client_id) ? token : REVOKED;
  };
}

/** `aud` of the tokens of a type: access tokens are for the API, refresh tokens for the token endpoint alone. */
export const audienceOf = (type: TokenType, options: OAuthOptions): string =>
  type === ACCESS ? (options.accessTokenAudience ?? options.issuer) : endpointUrl(options.issuer, 'token');

/** The key that a header names, if all else in it is as we write it: `typ` tells the types of token apart (N-36). */
function headerKid({ header }: CompactJws, type: TokenType): string | undefined {
  const { typ, kid } = header;
  const isOurs = isPlainRs256(header) && (typ === type.typ || typ === `application/${type.typ}`);
  return isOurs && typeof kid === 'string' ? kid : undefined;
}

/**
 * When a token ends, the skew included, in seconds. One that was issued under longer lifetimes than today's ends with the
 * longest of today's: what was revoked is forgotten then.
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
