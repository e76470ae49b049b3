import type { Counter, Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { Random } from '../random.ts';
import type { SecurityEvents } from '../security-events.ts';
import type { PasswordSignIn } from '../users/sign-in.ts';
import type { UserChanges, UserDirectory } from '../users/user.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { createBearerTokens } from './bearer-token.ts';
import { REFRESH } from './claims.ts';
import { createClientAuthentication } from './client-authentication.ts';
import type { Grant } from './grant.ts';
import { createIntrospection } from './introspection.ts';
import { createLogout } from './logout.ts';
import { createTokenMetrics } from './metrics.ts';
import type { UserData } from './missing-data.ts';
import type { OAuthOptions } from './options.ts';
import { createPasswordGrant } from './password-grant.ts';
import { createJwks, createMetadata } from './public-documents.ts';
import { createRefreshGrant } from './refresh-grant.ts';
import { createRefreshTokens } from './refresh-tokens.ts';
import { createRevocation } from './revocation.ts';
import { createSessionEnds } from './session-ends.ts';
import type { SessionStore } from './sessions.ts';
import type { SigningKeys } from './signing-keys.ts';
import { createTokenCheck } from './token-check.ts';
import { createTokenEndpoint } from './token-endpoint.ts';
import { createTokenIssuer } from './token-issuer.ts';
import type { AccessTokens } from './token-verifier.ts';
import { createLiveUsers, createStandings, standingDigest } from './user-standing.ts';
import { createUserinfo } from './userinfo.ts';

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
