import type { Clock } from '../../runtime/clock.ts';
import type { Introspection } from '../authorization-server.ts';
import type { Client, OAuthOptions } from '../options.ts';
import { judge } from '../sessions/session-rules.ts';
import type { SessionStore } from '../sessions/sessions.ts';
import type { Act } from '../tokens/act.ts';
import type { TokenClaims } from '../tokens/claims.ts';
import type { AccessTokens, RefreshTokens } from '../tokens/token-verifier.ts';
import { createFormEndpoint, type FormEndpoint, type FormEndpointParts } from './form-endpoint.ts';
import { refused } from './refusals.ts';

export interface IntrospectionParts extends FormEndpointParts {
  readonly verifier: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  readonly sessions: Pick<SessionStore, 'read' | 'knowsEndsOf'>;
  readonly clock: Clock;
}

/** In the audit trail, `clientId` is the client of the token, if the token is active; `askedBy` is the client that sends the request. */
const NAMES = {
  endpoint: 'introspect',
  begin: (act: Act, client: Client) => {
    act.is('introspection');
    act.says({ askedBy: client.name, clientId: undefined });
  },
} as const;

const INACTIVE = { result: 'inactive', answer: { active: false } } as const;

/**
 * Introspection (RFC 7662): says whether the token would be accepted now. Invalid tokens and tokens of other clients get one
 * answer, which reveals nothing about them (RFC 7662, section 4). Public clients are refused.
 */
export function createIntrospection(options: OAuthOptions, parts: IntrospectionParts): FormEndpoint<Introspection> {
  const activeClaims = (text: string): TokenClaims | undefined => {
    const access = parts.verifier.inspect(text);
    return 'claims' in access ? access.claims : activeRefreshClaims(text, options, parts);
  };
  return createFormEndpoint<Introspection>(NAMES, parts, async ({ token, client, act }) => {
    if (client.public) throw refused('mayNotIntrospect');
    const claims = activeClaims(token);
    if (!claims || (claims.client_id !== client.name && !client.introspectAll)) return INACTIVE;
    act.says({ user: claims.sub, clientId: claims.client_id, sid: claims.sid });
    return { result: 'active', answer: toIntrospection(claims) };
  });
}

/**
 * The claims of a refresh token, if it is the current one of its session and its client may use it. Its predecessor is not active,
 * even in the replay window, because it has been used: the window only repeats a lost answer. A client that introspects expects one
 * valid refresh token for each session, and not two for half a minute.
 */
function activeRefreshClaims(
  text: string,
  options: OAuthOptions,
  { refreshTokens, sessions, clock }: IntrospectionParts,
): TokenClaims | undefined {
  const token = refreshTokens(text);
  if (!token || !sessions.knowsEndsOf(token.claims.sid)) return undefined;
  const { claims } = token;
  const client = options.clients.find((one) => one.name === claims.client_id);
  if (!client?.grantTypes.includes('refresh_token')) return undefined;
  const at = { nowMs: clock.now(), replayWindowMs: options.refreshReplayWindowSeconds * 1000 };
  const verdict = judge(sessions.read(claims.sub), claims, at);
  // A client that rotates too often gets a 429, but its token is valid.
  return verdict.kind === 'rotate' || verdict.kind === 'too_often' ? claims : undefined;
}

/**
 * The answer for an active token (RFC 7662 2.2). `token_type` says how a token is used in requests (RFC 6749 7.1), so a refresh
 * token has none.
 */
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
