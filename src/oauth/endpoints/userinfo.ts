import type { AuthorizationServer } from '../authorization-server.ts';
import type { OAuthOptions } from '../options.ts';
import type { BearerTokens } from './authorization-header.ts';
import { loginRequired } from './refusals.ts';

/**
 * The userinfo endpoint (OpenID Connect Core 5.3). It answers with the current data of the user directory. The scopes of the token
 * do not limit the answer, as in KubeSphere 3.4, whose clients request none.
 */
export function createUserinfo({ platform }: OAuthOptions, bearerToken: BearerTokens): AuthorizationServer['userinfo'] {
  return (authorization, actorKnown) => {
    const token = bearerToken(authorization);
    if (!token) throw loginRequired(platform);
    const { name, email, locale } = token.user;
    actorKnown?.({ user: name, clientId: token.claims.client_id, sid: token.claims.sid });
    return {
      sub: name,
      name,
      ...(email ? { email } : {}),
      ...(locale ? { locale } : {}),
      preferred_username: name,
    };
  };
}
