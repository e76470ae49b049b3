import type { Counter } from 'prom-client';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createTextDigest, type Random } from '../../runtime/random.ts';
import type { User } from '../../users/user.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { endpointUrl, longestTokenSeconds, type OAuthOptions } from '../options.ts';
import { isDead } from '../sessions/session-rules.ts';
import type { SessionStore } from '../sessions/sessions.ts';
import type { TokenData } from '../token-data.ts';
import {
  ACCESS,
  type RefreshClaims,
  type TokenClaims,
  type TokenType,
  toRefreshClaims,
  toTokenClaims,
} from './claims.ts';
import { type CompactJws, isPlainRs256, isSigned, parseCompactJws } from './compact-jws.ts';
import type { Identity, TokenFault, TokenVerifier, Verification } from './identity.ts';
import { identityOf, type LiveUsers, type UserStandings } from './user-standing.ts';

export interface VerifierParts {
  readonly data: Pick<TokenData, 'check'>;
  readonly keys: Pick<SigningKeys, 'verificationKey'>;
  readonly sessions: Pick<SessionStore, 'read'>;
  readonly liveUser: LiveUsers;
  readonly standing: UserStandings;
  readonly clock: Clock;
  readonly random: Random;
  /** Counts bearer tokens, by result. */
  readonly verifications: Counter<'result'>;
}

/** Also returns the claims and the user of a token, which logout needs. */
export interface AccessTokens extends TokenVerifier {
  inspect(text: string): AccessToken | { readonly fault: TokenFault };
}

export interface AccessToken {
  readonly claims: TokenClaims;
  readonly user: User;
  readonly cached: boolean;
}

const REVOKED = { fault: 'revoked' } as const;

/**
 * Verifies access tokens: from the memory of verified tokens, else in full. Then it checks the state of key, session and user,
 * each time. Throws a 503 while keys, session records or users are missing or too old, because tokens can be neither accepted
 * nor refused then (C-38).
 */
export function createTokenVerifier(options: OAuthOptions, parts: VerifierParts): AccessTokens {
  const verified = createVerifiedTokens(parts.random);
  const check = createTokenCheck(ACCESS, options, parts);
  const identityOf = createIdentities(parts.standing);

  const inspect = (text: string): AccessToken | { readonly fault: TokenFault } => {
    parts.data.check();
    const known = fromMemory(text, verified, parts);
    const token = known ?? inFull(text, verified, check);
    if ('fault' in token) return token;
    const isOver = isDead(parts.sessions.read(token.claims.sub), token.claims);
    const user = isOver ? undefined : parts.liveUser(token.claims);
    return user ? { claims: token.claims, user, cached: known !== undefined } : REVOKED;
  };
  const verify = (text: string): Verification => {
    const token = inspect(text);
    parts.verifications.inc({ result: 'fault' in token ? token.fault : token.cached ? 'cached' : 'ok' });
    return 'fault' in token ? token : { identity: identityOf(token), cached: token.cached };
  };
  return { verify, inspect };
}

/** A token that was verified before stays valid until it expires, as long as its key is valid. */
function fromMemory(
  text: string,
  verified: VerifiedTokens,
  now: { readonly keys: VerifierParts['keys']; readonly clock: Clock },
): CheckedToken | { readonly fault: TokenFault } | undefined {
  const token = verified.get(text);
  if (!token) return undefined;
  const isExpired = token.endsAt <= now.clock.now() / 1000;
  const isKeyGood = now.keys.verificationKey(token.kid) !== undefined;
  if (!isExpired && isKeyGood) return token;
  verified.drop(text);
  return { fault: isKeyGood ? 'expired' : 'invalid' };
}

function inFull(
  text: string,
  verified: VerifiedTokens,
  check: TokenCheck,
): CheckedToken | { readonly fault: TokenFault } {
  const token = check(text);
  if ('claims' in token) verified.add(text, token);
  return token;
}

/**
 * Makes the identity of a token. It has the user's current groups and not those in the token. All requests with a token get the same object until its user changes, so that other
 * code can cache by it.
 */
function createIdentities(standing: UserStandings): (token: AccessToken) => Identity {
  const known = new WeakMap<TokenClaims, { readonly user: User; readonly identity: Identity }>();
  return ({ claims, user }) => {
    const before = known.get(claims);
    if (before?.user === user) return before.identity;
    const { client_id: clientId, sid } = claims;
    const identity = identityOf(user, standing(user), { clientId, sid });
    known.set(claims, { user, identity });
    return identity;
  };
}

/** About 40 MB when it is full of the claims of our longest tokens. */
const CAPACITY = 32_000;

/**
 * Remembers tokens whose text, header, signature and claims are valid. The keys are digests, so no token stays in memory.
 */
export interface VerifiedTokens {
  get(text: string): CheckedToken | undefined;
  add(text: string, token: CheckedToken): void;
  drop(text: string): void;
}

export function createVerifiedTokens(random: Random): VerifiedTokens {
  const tokens = new BoundedMap<CheckedToken>(CAPACITY);
  const digest = createTextDigest(random);
  return {
    get: (text) => tokens.get(digest(text)),
    drop: (text) => tokens.delete(digest(text)),
    add: (text, token) => tokens.set(digest(text), token),
  };
}

export interface CheckedToken {
  readonly claims: TokenClaims;
  /** The key that verified it: a token is valid only as long as its key. */
  readonly kid: string;
  /** From this time on we do not accept the token, in seconds. */
  readonly endsAt: number;
}

/**
 * Checks text, header, signature, claims and client, in this order, but nothing that depends on the state of sessions or users.
 */
export type TokenCheck = (text: string) => CheckedToken | { readonly fault: TokenFault };

/** A longer text is refused without any cryptography. Our own tokens are at most a quarter as long. */
export const LONGEST_TOKEN = 8 * 1024;

const INVALID = { fault: 'invalid' } as const;

/**
 * Creates the check of one type of token. The check is synchronous and takes about 0.1 ms; in the thread pool it would wait behind
 * password hashes.
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
    // The tokens of a client that was removed from the configuration are not accepted. The configuration changes only at a restart,
    // so this need not be checked again for a token that this process remembers.
    return clients.has(claims.client_id) ? token : REVOKED;
  };
}

/** The `aud` of a type of token: access tokens are for the API, refresh tokens only for the token endpoint. */
export const audienceOf = (type: TokenType, options: OAuthOptions): string =>
  type === ACCESS ? (options.accessTokenAudience ?? options.issuer) : endpointUrl(options.issuer, 'token');

/** The `kid` of a header, if everything else in it is as we write it. `typ` distinguishes the types of token (N-36). */
function headerKid({ header }: CompactJws, type: TokenType): string | undefined {
  const { typ, kid } = header;
  const isOurs = isPlainRs256(header) && (typ === type.typ || typ === `application/${type.typ}`);
  return isOurs && typeof kid === 'string' ? kid : undefined;
}

/**
 * Computes until when a token is accepted, in seconds, with the clock skew. If the token was issued with a longer lifetime than any
 * in the current configuration, it ends after the longest of these, because revocations are forgotten then.
 */
function createTokenEnd(options: OAuthOptions): (claims: TokenClaims) => number {
  const longest = longestTokenSeconds(options);
  return ({ exp, iat }) => Math.min(exp + options.maximumClockSkewSeconds, iat + longest);
}

/** Checks `exp`, `nbf` and `iat` (RFC 7519 4.1.4 to 4.1.6), all with the same clock skew (N-37). */
function timeFault({ claims, endsAt }: CheckedToken, now: number, skew: number): TokenFault | undefined {
  const { iat, nbf = 0 } = claims as TokenClaims & { readonly nbf?: number };
  if (endsAt <= now) return 'expired';
  return iat > now + skew || nbf > now + skew ? 'not_yet_valid' : undefined;
}

interface RefreshToken {
  readonly claims: RefreshClaims;
  readonly user: User;
}

/** Checks a refresh token, except whether its session has ended or rotated: the session record decides that. */
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
