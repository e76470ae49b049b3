import type { Userinfo } from './authorization-server.ts';
import type { BearerTokens } from './bearer-token.ts';
import type { OAuthOptions } from './options.ts';
import { loginRequired } from './refusals.ts';

/**
 * OpenID Connect Core 5.3. What the user directory says today; the scopes of the token do not narrow it, as in
 * KubeSphere 3.4, whose clients ask for none.
 */
export function createUserinfo(
  { platform }: OAuthOptions,
  bearerToken: BearerTokens,
): (authorization: string | undefined) => Userinfo {
  return (authorization) => {
    const token = bearerToken(authorization);
    if (!token) throw loginRequired(platform);
    const { name, email, locale } = token.user;
    return {
      sub: name,
      name,
      ...(email ? { email } : {}),
      ...(locale ? { locale } : {}),
      preferred_username: name,
    };
  };
}
