import type { Counter } from 'prom-client';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { User } from '../../users/user.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import type { OAuthOptions } from '../options.ts';
import { isDead } from '../sessions/session-rules.ts';
import type { SessionStore } from '../sessions/sessions.ts';
import type { TokenData } from '../token-data.ts';
import { ACCESS, type TokenClaims } from './claims.ts';
import type { Identity, TokenFault, TokenVerifier, Verification } from './identity.ts';
import { createTextDigest } from './text-digest.ts';
import { type CheckedToken, createTokenCheck, type TokenCheck } from './token-check.ts';
import type { LiveUsers, UserStandings } from './user-standing.ts';

export interface VerifierParts {
  readonly data: Pick<TokenData, 'check'>;
  readonly keys: Pick<SigningKeys, 'verificationKey'>;
  readonly sessions: Pick<SessionStore, 'read'>;
  readonly liveUser: LiveUsers;
  readonly standing: UserStandings;
  readonly clock: Clock;
  readonly random: Random;
  /** Counts bearers, by result. */
  readonly verifications: Counter<'result'>;
}

/** Also tells whose token it is and when it was issued, which logout needs. */
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
 * Verifies access tokens: from the memory of verified tokens, else in full. Then it checks the state of key, session
 * and user, each time. Throws `ServiceUnavailable` while keys, records or users are missing or too old, since no token
 * can be called good or bad then (C-38).
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

/** A token that was verified before is good until it expires, as long as its key is. */
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
 * Uses the groups of today, whatever the token says, and adds `system:authenticated` as Kubernetes does for every
 * caller. All calls with a token get one object until its user changes, so that others can keep what they derive from
 * it.
 */
function createIdentities(standing: UserStandings): (token: AccessToken) => Identity {
  const known = new WeakMap<TokenClaims, { readonly user: User; readonly identity: Identity }>();
  return ({ claims, user }) => {
    const before = known.get(claims);
    if (before?.user === user) return before.identity;
    const { sub: name, client_id: clientId, sid } = claims;
    const groups = [...standing(user).groups, 'system:authenticated'];
    const identity = { name, uid: user.uid, groups, clientId, sid };
    known.set(claims, { user, identity });
    return identity;
  };
}

/** About 40 MB when full of claims as long as our longest tokens have. */
const CAPACITY = 32_000;

/**
 * Remembers tokens whose text, header, signature and claims were found good. Keyed by a digest, so no token stays in
 * memory.
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
