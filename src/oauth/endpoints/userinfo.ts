import type { User } from '../../users/user.ts';
import type { AuthorizationServer } from '../authorization-server.ts';
import type { OAuthOptions } from '../options.ts';
import { emailClaims, scopesOf } from '../tokens/id-token.ts';
import type { UserStandings } from '../tokens/user-standing.ts';
import type { BearerTokens } from './authorization-header.ts';
import { loginRequired } from './refusals.ts';

type Userinfo = ReturnType<AuthorizationServer['userinfo']>;

/**
 * The userinfo endpoint (OpenID Connect Core 5.3). It answers with the current data of the user directory. A session without a
 * scope gets the answer of KubeSphere 3.4, whose clients request none; any other gets the claims of its scopes (ID-07).
 */
export function createUserinfo(
  options: OAuthOptions,
  { bearerToken, standing }: { readonly bearerToken: BearerTokens; readonly standing: UserStandings },
): AuthorizationServer['userinfo'] {
  return (authorization, actorKnown) => {
    const token = bearerToken(authorization);
    if (!token) throw loginRequired(options.platform);
    const { user, claims } = token;
    actorKnown?.({ user: user.name, clientId: claims.client_id, sid: claims.sid });
    if (claims.scope === undefined) return withoutScope(user);
    const scopes = scopesOf(claims.scope);
    return {
      sub: user.name,
      ...(scopes.has('profile') ? { name: user.name } : {}),
      ...(scopes.has('email') ? emailClaims(user, options) : {}),
      ...(scopes.has('profile') && user.locale ? { locale: user.locale } : {}),
      ...(scopes.has('profile') ? { preferred_username: user.name } : {}),
      ...(scopes.has('groups') ? { groups: standing(user).groups } : {}),
    };
  };
}

const withoutScope = ({ name, email, locale }: User): Userinfo => ({
  sub: name,
  name,
  ...(email ? { email } : {}),
  ...(locale ? { locale } : {}),
  preferred_username: name,
});
