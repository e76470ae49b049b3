import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { serviceUnavailable } from '../../status-error.ts';
import type { User } from '../../users/user.ts';
import type { TokenResponse } from '../authorization-server.ts';
import type { SigningKey } from '../keys/loaded-keys.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { lifetimesOf, type OAuthOptions } from '../options.ts';
import { ACCESS, REFRESH } from './claims.ts';
import { createIdTokens, scopesOf } from './id-token.ts';
import { signToken, signWithGroups } from './signed-token.ts';
import type { Imprint, TokenSession } from './token-session.ts';
import { audienceOf } from './token-verifier.ts';
import type { UserStandings } from './user-standing.ts';

export interface TokenIssuer {
  /** Makes a new imprint, with the active key. Throws `server_error` (503) while there is no key. */
  imprint(generation: number, issuedAt: number): Imprint;
  /** When the last token of the pair will have expired, in seconds. */
  keepUntil(session: TokenSession, imprint: Imprint): number;
  /** Signs the tokens: two signatures, or three if the scope has `openid`; each takes about 1 ms. `nonce`: as the authorization request sent it. */
  pair(session: TokenSession, imprint: Imprint, nonce?: string): TokenResponse;
}

export interface IssuerParts {
  readonly keys: Pick<SigningKeys, 'signingKey' | 'fault'>;
  readonly standing: UserStandings;
  readonly clock: Clock;
  readonly random: Random;
}

/** 128 random bits. */
const ID_BYTES = 16;

export function createTokenIssuer(options: OAuthOptions, parts: IssuerParts): TokenIssuer {
  const idToken = createIdTokens(options, parts.standing);
  const newId = (): string => parts.random.bytes(ID_BYTES).toString('base64url');
  const signingKey = (kid?: string): SigningKey => {
    const key = parts.keys.signingKey(kid) ?? parts.keys.signingKey();
    if (!key) throw serviceUnavailable('tokens cannot be signed now', 1, new Error(parts.keys.fault()));
    return key;
  };
  const expiry = (session: TokenSession, issuedAt: number, lifetimeSeconds: number): number =>
    Math.min(issuedAt + lifetimeSeconds, session.authTime + options.sessionMaxAgeSeconds);
  const keepUntil = (session: TokenSession, { issuedAt }: Imprint): number =>
    expiry(session, issuedAt, lifetimesOf(session.client, options).refreshSeconds) + options.maximumClockSkewSeconds;

  const pair = (session: TokenSession, imprint: Imprint, nonce?: string): TokenResponse => {
    const key = signingKey(imprint.kid);
    const lifetimes = lifetimesOf(session.client, options);
    const accessExpiry = expiry(session, imprint.issuedAt, lifetimes.accessSeconds);
    const shared = sharedClaims(session, imprint, options.issuer);
    const own = ownClaims(session, parts.standing(session.user).pwd);
    const access = {
      ...shared,
      aud: [audienceOf(ACCESS, options)],
      exp: accessExpiry,
      jti: imprint.accessJti,
      token_type: ACCESS.tokenType,
      username: session.user.name,
      ...own,
      ...extraClaim(session.user),
    };
    const refresh = {
      ...shared,
      aud: [audienceOf(REFRESH, options)],
      jti: imprint.refreshJti,
      exp: expiry(session, imprint.issuedAt, lifetimes.refreshSeconds),
      gen: imprint.generation,
      auth_time: session.authTime,
      token_type: REFRESH.tokenType,
      username: session.user.name,
      ...own,
    };
    const accessToken = signWithGroups(key, ACCESS.typ, access, parts.standing(session.user).groups);
    const wantsIdToken = scopesOf(session.scope).has('openid');
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      refresh_token: signToken(key, REFRESH.typ, refresh),
      expires_in: secondsLeft(accessExpiry, imprint.issuedAt, parts.clock.now()),
      ...(session.scope === undefined ? {} : { scope: session.scope }),
      ...(wantsIdToken ? { id_token: idToken({ session, imprint, key, accessToken, nonce }) } : {}),
    };
  };
  const imprint = (generation: number, issuedAt: number): Imprint => {
    return { generation, issuedAt, kid: signingKey().kid, accessJti: newId(), refreshJti: newId() };
  };
  return { imprint, keepUntil, pair };
}

/**
 * `expires_in`, which RFC 6749 5.1 counts from the answer. A second that begins while a new pair is signed does not count, so a new
 * pair has its whole lifetime, as in KubeSphere 3.4. A repeated pair has what is left of it.
 */
function secondsLeft(expiry: number, issuedAt: number, nowMs: number): number {
  const now = Math.floor(nowMs / 1000);
  return Math.max(0, expiry - (now - issuedAt <= 1 ? issuedAt : now));
}

const sharedClaims = (session: TokenSession, imprint: Imprint, issuer: string) => ({
  iss: issuer,
  sub: session.user.name,
  client_id: session.client.name,
  iat: imprint.issuedAt,
  sid: session.sid,
});

const ownClaims = ({ scope }: TokenSession, pwd: string | undefined) => ({
  ...(pwd === undefined ? {} : { pwd }),
  ...(scope === undefined ? {} : { scope }),
});

/** The value comes from an annotation, which may have 256 KiB. Values that clients know are `true` and short words. */
const LONGEST_EXTRA = 64;

/** Tells a client, which does not verify the token, to send the user to the page for a first password. */
const extraClaim = ({ uninitialized }: User) =>
  uninitialized === undefined ? {} : { extra: { uninitialized: [uninitialized.slice(0, LONGEST_EXTRA)] } };
