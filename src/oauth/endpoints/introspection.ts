import type { Clock } from '../../runtime/clock.ts';
import type { Introspection } from '../authorization-server.ts';
import type { Client, OAuthOptions } from '../options.ts';
import { judge } from '../sessions/session-rules.ts';
import type { Act } from '../tokens/act.ts';
import type { TokenClaims } from '../tokens/claims.ts';
import type { RefreshTokens } from '../tokens/refresh-tokens.ts';
import type { AccessTokens } from '../tokens/token-verifier.ts';
import { createFormEndpoint, type FormEndpoint, type FormEndpointParts } from './form-endpoint.ts';
import { mayNotIntrospect } from './refusals.ts';

export interface IntrospectionParts extends FormEndpointParts {
  readonly verifier: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  readonly clock: Clock;
}

/** The line names the client of the token, if that is a good one; who asks is another member. */
const NAMES = {
  endpoint: 'introspect',
  begin: (act: Act, client: Client) => {
    act.is('introspection');
    act.says({ askedBy: client.name, clientId: undefined });
  },
} as const;

const INACTIVE = { result: 'inactive', answer: { active: false } } as const;

/**
 * RFC 7662: would the token be accepted now? One answer for all that would not, and for tokens of other clients, so that
 * nothing can be found out about them (RFC 7662, section 4). Only for clients that can prove who they are.
 */
export function createIntrospection(options: OAuthOptions, parts: IntrospectionParts): FormEndpoint<Introspection> {
  const activeClaims = (text: string): TokenClaims | undefined => {
    const access = parts.verifier.inspect(text);
    return 'claims' in access ? access.claims : activeRefreshClaims(text, options, parts);
  };
  return createFormEndpoint<Introspection>(NAMES, parts, async ({ token, client, act }) => {
    if (client.public) throw mayNotIntrospect();
    const claims = activeClaims(token);
    if (!claims || (claims.client_id !== client.name && !client.introspectAll)) return INACTIVE;
    act.says({ user: claims.sub, clientId: claims.client_id, sid: claims.sid });
    return { result: 'active', answer: toIntrospection(claims) };
  });
}

/**
 * The current refresh token of its session, when its client may use it. Its predecessor is not active, in the replay window
 * neither: it has been used. The window answers a lost reply once more; it gives the predecessor no new life, and who asks
 * here wants to hear of one good refresh token for each session, not of two for half a minute.
 */
function activeRefreshClaims(
  text: string,
  options: OAuthOptions,
  { refreshTokens, sessions, clock }: IntrospectionParts,
): TokenClaims | undefined {
  const token = refreshTokens(text);
  if (!token) return undefined;
  const { claims } = token;
  const client = options.clients.find((one) => one.name === claims.client_id);
  if (!client?.grantTypes.includes('refresh_token')) return undefined;
  const at = { nowMs: clock.now(), replayWindowMs: options.refreshReplayWindowSeconds * 1000 };
  const verdict = judge(sessions.read(claims.sub), claims, at);
  // Too many rotations in a minute are asked to wait: that says nothing against the token.
  return verdict.kind === 'rotate' || verdict.kind === 'too_often' ? claims : undefined;
}

/** RFC 7662 2.2. `token_type` is how a token is presented (RFC 6749 7.1), which a refresh token is not. */
const toIntrospection = (claims: TokenClaims): Introspection => ({
  active: true,
  client_id: claims.client_id,
  username: claims.sub,
  sub: claims.sub,
  aud: claims.aud,
  iss: claims.iss,
  exp: claims.exp,
  iat: claims.iat,
  jti: claims.jti,
  ...(claims.scope === undefined ? {} : { scope: claims.scope }),
  ...('gen' in claims ? {} : { token_type: 'Bearer' as const }),
});
