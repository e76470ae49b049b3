import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { serviceUnavailable } from '../../status-error.ts';
import type { User } from '../../users/user.ts';
import type { TokenResponse } from '../authorization-server.ts';
import type { SigningKey } from '../keys/loaded-keys.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { type Client, lifetimesOf, type OAuthOptions } from '../options.ts';
import { ACCESS, REFRESH, type TokenType } from './claims.ts';
import { toJwsPart } from './compact-jws.ts';
import { audienceOf } from './token-verifier.ts';
import type { UserStandings } from './user-standing.ts';

/** The facts of a sign-in, which every pair of tokens of its session shares. */
export interface TokenSession {
  readonly sid: string;
  readonly user: User;
  readonly client: Client;
  /** When the person signed in, in seconds. */
  readonly authTime: number;
  readonly scope?: string;
}

/** The data from which a pair of tokens is made, in addition to the session. An equal imprint gives the same pair, byte for byte. */
export interface Imprint {
  readonly generation: number;
  /** Seconds. */
  readonly issuedAt: number;
  readonly kid: string;
  readonly accessJti: string;
  readonly refreshJti: string;
}

export interface TokenIssuer {
  /** Makes a new imprint, with the active key. Throws `server_error` (503) while there is no key. */
  imprint(generation: number, issuedAt: number): Imprint;
  /** When the last token of the pair will have expired, in seconds. */
  keepUntil(session: TokenSession, imprint: Imprint): number;
  /** Signs both tokens: two signatures, about 2 ms. */
  pair(session: TokenSession, imprint: Imprint): TokenResponse;
}

export interface IssuerParts {
  readonly keys: Pick<SigningKeys, 'signingKey' | 'fault'>;
  readonly standing: UserStandings;
  readonly clock: Clock;
  readonly random: Random;
}

/** Clients keep a token in a cookie of at most 4,096 bytes. Half of that leaves room for the rest (N-17). */
const LONGEST_ISSUED_TOKEN = 2048;

/** 128 random bits. */
const ID_BYTES = 16;

export function createTokenIssuer(options: OAuthOptions, parts: IssuerParts): TokenIssuer {
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

  const pair = (session: TokenSession, imprint: Imprint): TokenResponse => {
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
    return {
      access_token: signAccess(key, access, parts.standing(session.user).groups),
      token_type: 'Bearer',
      refresh_token: signToken(key, REFRESH, refresh),
      expires_in: secondsLeft(accessExpiry, imprint.issuedAt, parts.clock.now()),
      ...(session.scope === undefined ? {} : { scope: session.scope }),
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

/** Signs an access token. It includes the groups, for display, unless they would make the token too long. */
function signAccess(key: SigningKey, claims: object, groups: readonly string[]): string {
  const input = signingInput(key, ACCESS, { ...claims, groups });
  const fits = input.length + 1 + key.signatureLength <= LONGEST_ISSUED_TOKEN;
  return fits ? `${input}.${key.sign(input)}` : signToken(key, ACCESS, claims);
}

function signToken(key: SigningKey, type: TokenType, claims: object): string {
  const input = signingInput(key, type, claims);
  return `${input}.${key.sign(input)}`;
}

const signingInput = (key: SigningKey, type: TokenType, claims: object): string =>
  `${toJwsPart({ alg: 'RS256', typ: type.typ, kid: key.kid })}.${toJwsPart(claims)}`;
