import type { OAuthOptions } from '../options.ts';
import type { AccessToken, AccessTokens } from '../tokens/token-verifier.ts';
import { readBearer } from './authorization-header.ts';
import { invalidToken, malformedBearer, toOAuthError } from './refusals.ts';

/**
 * The access token that a request under /oauth carries as its bearer; `undefined` when it carries none. A bearer that
 * is malformed or not valid is refused as on the API (N-29, N-33), but with an OAuth error.
 */
export type BearerTokens = (authorization: string | undefined) => AccessToken | undefined;

export function createBearerTokens({ platform, maxBearerBytes }: OAuthOptions, verifier: AccessTokens): BearerTokens {
  return (authorization) => {
    const bearer = readBearer(authorization, maxBearerBytes);
    if (bearer.kind === 'absent') return undefined;
    if (bearer.kind === 'malformed') throw malformedBearer(platform);
    const token = bearer.kind === 'token' ? inspect(bearer.text, verifier) : undefined;
    if (!token || 'fault' in token) throw invalidToken(platform);
    return token;
  };
}

/** The verifier throws while it cannot judge a token. That must not count against the token. */
function inspect(text: string, verifier: AccessTokens): ReturnType<AccessTokens['inspect']> {
  try {
    return verifier.inspect(text);
  } catch (error) {
    throw toOAuthError(error);
  }
}
