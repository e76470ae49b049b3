import type { Counter, Registry } from 'prom-client';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { SecurityEvents } from '../security-events.ts';
import type { PasswordSignIn } from '../users/sign-in.ts';
import type { UserChanges, UserDirectory } from '../users/user.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { createBearerTokens } from './endpoints/bearer-token.ts';
import { createClientAuthentication } from './endpoints/client-authentication.ts';
import type { Grant } from './endpoints/grant.ts';
import { createIntrospection } from './endpoints/introspection.ts';
import { createLogout } from './endpoints/logout.ts';
import { createJwks, createMetadata } from './endpoints/public-documents.ts';
import { createRevocation } from './endpoints/revocation.ts';
import { createTokenEndpoint } from './endpoints/token-endpoint.ts';
import { createUserinfo } from './endpoints/userinfo.ts';
import { createPasswordGrant } from './grants/password-grant.ts';
import { createRefreshGrant } from './grants/refresh-grant.ts';
import type { SigningKeys } from './keys/signing-keys.ts';
import { createTokenMetrics } from './metrics.ts';
import type { UserData } from './missing-data.ts';
import type { OAuthOptions } from './options.ts';
import { createSessionEnds } from './sessions/session-ends.ts';
import type { SessionStore } from './sessions/sessions.ts';
import { REFRESH } from './tokens/claims.ts';
import { createRefreshTokens } from './tokens/refresh-tokens.ts';
import { createTokenCheck } from './tokens/token-check.ts';
import { createTokenIssuer } from './tokens/token-issuer.ts';
import type { AccessTokens } from './tokens/token-verifier.ts';
import { createLiveUsers, createStandings, standingDigest } from './tokens/user-standing.ts';

export interface AuthorizationServerParts extends UserData {
  readonly keys: SigningKeys;
  readonly sessions: SessionStore;
  readonly users: UserDirectory & UserChanges;
  readonly signIn: PasswordSignIn;
  readonly verifier: AccessTokens;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly events: SecurityEvents;
  /** Refused clients, by reason. */
  readonly clientFailures: Counter<'reason'>;
}

/** Builds what the routes under /oauth need, from its dependencies, top to bottom. */
export function createAuthorizationServer(options: OAuthOptions, parts: AuthorizationServerParts): AuthorizationServer {
  const metrics = createTokenMetrics(parts.registry);
  const standing = createStandings(parts.keys);
  const ends = createSessionEnds(options, { ...parts, metrics });
  parts.users.onChange((name) => void ends.changed(name, standingDigest(parts.users.byName(name), standing)));
  const issuer = createTokenIssuer(options, { ...parts, standing });
  const check = createTokenCheck(REFRESH, options, parts);
  const liveUser = createLiveUsers(parts.users, standing);
  const refreshTokens = createRefreshTokens(options, { ...parts, check, liveUser });
  const grants = new Map<string, Grant>([
    ['password', createPasswordGrant(options, { ...parts, ends, issuer })],
    ['refresh_token', createRefreshGrant(options, { ...parts, refreshTokens, ends, issuer, metrics })],
  ]);
  const clients = createClientAuthentication(options, parts);
  const metadata = createMetadata(options, [...grants.keys()]);
  const { platform } = options;
  const token = createTokenEndpoint({ ...parts, platform, clients, grants, metrics });
  const revoke = createRevocation(options, { ...parts, clients, ends, results: metrics.revocationRequests });
  const asked = { ...parts, clients, refreshTokens, results: metrics.introspections };
  const introspect = createIntrospection(options, asked);
  const formEndpoints = { token, revoke, introspect };
  const bearerToken = createBearerTokens(options, parts.verifier);
  return {
    checkFormHead: (endpoint, contentType, query) => formEndpoints[endpoint].checkHead(contentType, query),
    token: token.token,
    revoke: revoke.answer,
    introspect: introspect.answer,
    userinfo: createUserinfo(options, bearerToken),
    logout: createLogout(options, { ...parts, bearerToken, ends }),
    keys: createJwks(parts.keys),
    metadata: () => metadata,
  };
}
