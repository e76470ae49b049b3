import { createHash } from 'node:crypto';
import { isEmail, type User } from '../../users/user.ts';
import type { SigningKey } from '../keys/loaded-keys.ts';
import { idTokenSeconds, type OAuthOptions } from '../options.ts';
import { signWithGroups } from './signed-token.ts';
import type { Imprint, TokenSession } from './token-session.ts';
import type { UserStandings } from './user-standing.ts';

/** The `typ` of ID tokens. Access and refresh tokens have their own, so an ID token is accepted as neither (ID-06). */
export const ID_TYP = 'JWT';

export interface IdTokenRequest {
  readonly session: TokenSession;
  readonly imprint: Imprint;
  readonly key: SigningKey;
  /** The access token of the same response; its digest is the claim `at_hash`. */
  readonly accessToken: string;
  /** As the authorization request sent it; absent in all other responses. */
  readonly nonce: string | undefined;
}

/** Signs the ID token of a response (OpenID Connect Core 2). The same request gives the same token, byte for byte. */
export function createIdTokens(options: OAuthOptions, standing: UserStandings): (request: IdTokenRequest) => string {
  return ({ session, imprint, key, accessToken, nonce }) => {
    const { user, client, sid, authTime } = session;
    const lifetimeEnd = imprint.issuedAt + idTokenSeconds(client, options);
    const scopes = scopesOf(session.scope);
    const claims = {
      iss: options.issuer,
      sub: user.name,
      aud: client.name,
      exp: Math.min(lifetimeEnd, authTime + options.sessionMaxAgeSeconds),
      iat: imprint.issuedAt,
      auth_time: authTime,
      sid,
      at_hash: halfDigest(accessToken),
      ...(nonce === undefined ? {} : { nonce }),
      ...(scopes.has('profile') ? { name: user.name, preferred_username: user.name } : {}),
      ...(scopes.has('email') ? emailClaims(user, options) : {}),
    };
    return signWithGroups(key, ID_TYP, claims, scopes.has('groups') ? standing(user).groups : undefined);
  };
}

/** The words of a granted scope. */
export const scopesOf = (scope: string | undefined): ReadonlySet<string> => new Set(scope?.split(' '));

/** The left half of the SHA-256 of the text (OpenID Connect Core 3.1.3.6, for RS256). */
const halfDigest = (text: string): string =>
  createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');

/**
 * The address of the user. `email_verified` is present only if the account says that the address was verified: a cluster
 * takes the address as a user name unless the claim is false. The fallback is for clients that refuse a user without an
 * address; nobody has verified it (ID-03).
 */
export function emailClaims(
  { name, email, emailVerified }: User,
  { emailFallbackDomain }: Pick<OAuthOptions, 'emailFallbackDomain'>,
): { readonly email?: string; readonly email_verified?: true } {
  if (email) return { email, ...(emailVerified ? { email_verified: true } : {}) };
  const fallback = `${name}@${emailFallbackDomain}`;
  return emailFallbackDomain !== undefined && isEmail(fallback) ? { email: fallback } : {};
}
