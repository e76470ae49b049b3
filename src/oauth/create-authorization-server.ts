import type { Counter, Registry } from 'prom-client';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { SecurityEvents } from '../security-events.ts';
import type { FirstPasswords } from '../users/first-passwords.ts';
import type { PasswordSignIn, SignInRecorder } from '../users/sign-in.ts';
import type { UserChanges, UserDirectory } from '../users/user.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { createAuthorizationCodes } from './authorize/authorization-code.ts';
import { REQUEST_METADATA } from './authorize/authorization-request.ts';
import { createBrowserEndpoints } from './authorize/browser-endpoints.ts';
import type { PageSessions } from './authorize/page-sessions.ts';
import { createOriginTest } from './authorize/redirect-uris.ts';
import type { ClientSecrets } from './client-secrets.ts';
import { type BuiltDeviceEndpoints, createDeviceEndpoints, type DeviceParts } from './device/device-endpoints.ts';
import { createDeviceGrant, type DeviceGrantParts } from './device/device-grant.ts';
import type { DeviceRecords } from './device/device-records.ts';
import { createDeviceValues, hasDeviceGrant } from './device/device-request.ts';
import { createBearerTokens } from './endpoints/authorization-header.ts';
import { createClientAuthentication } from './endpoints/client-authentication.ts';
import type { Grant } from './endpoints/grant.ts';
import { createIntrospection } from './endpoints/introspection.ts';
import { createLogout } from './endpoints/logout.ts';
import { createJwks, createMetadata } from './endpoints/public-documents.ts';
import { createRevocation } from './endpoints/revocation.ts';
import { createTokenEndpoint } from './endpoints/token-endpoint.ts';
import { createUserinfo } from './endpoints/userinfo.ts';
import { type CodeGrantParts, createCodeGrant } from './grants/code-grant.ts';
import { createPasswordGrant, type PasswordGrantParts } from './grants/password-grant.ts';
import { createRefreshGrant, type RefreshGrantParts } from './grants/refresh-grant.ts';
import type { SigningKeys } from './keys/signing-keys.ts';
import { createTokenMetrics, type TokenMetrics } from './metrics.ts';
import { DEVICE_GRANT, type OAuthOptions } from './options.ts';
import { createSessionEnds, type SessionEnds } from './sessions/session-ends.ts';
import type { SessionStore } from './sessions/sessions.ts';
import { createTokenData, type TokenData } from './token-data.ts';
import { REFRESH } from './tokens/claims.ts';
import { createTokenIssuer } from './tokens/token-issuer.ts';
import { type AccessTokens, createRefreshTokens, createTokenCheck } from './tokens/token-verifier.ts';
import { type LiveUsers, standingDigest, type UserStandings } from './tokens/user-standing.ts';

export interface AuthorizationServerParts {
  /** Checks that the data for the verification of tokens is loaded and current. */
  readonly data: TokenData;
  readonly keys: SigningKeys;
  readonly sessions: SessionStore;
  readonly users: Pick<UserDirectory, 'byName'> & UserChanges;
  readonly standing: UserStandings;
  readonly liveUser: LiveUsers;
  readonly signIn: Pick<PasswordSignIn, 'signIn' | 'userOf'>;
  readonly recorder?: SignInRecorder | undefined;
  /** Sets first passwords on the sign-in page; `undefined` while nothing can. */
  firstPasswords(): FirstPasswords | undefined;
  readonly verifier: AccessTokens;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly events: SecurityEvents;
  /** Counts bearers and the calls of pages, by result. */
  readonly verifications: Counter<'result'>;
  /** Counts refused clients, by reason. */
  readonly clientFailures: Counter<'reason'>;
  readonly clientSecrets: ClientSecrets;
  readonly deviceRecords: DeviceRecords;
}

export interface BuiltAuthorizationServer extends AuthorizationServer {
  /** For the code that changes users, which ends their sessions before it writes the change. */
  readonly ends: UserEnds;
  /** Who calls when a page of ours calls, and what it does with its session. */
  readonly pageSessions: PageSessions;
}

/** Ends sessions for the code that changes users. */
interface UserEnds extends Pick<SessionEnds, 'user'> {
  /** Ends all sessions of the user but this one, which goes on when the user gets this password hash. */
  allBut(session: string, user: string, passwordHash: string): Promise<void>;
}

const createUserEnds = (
  ends: SessionEnds,
  { users, standing }: Pick<AuthorizationServerParts, 'users' | 'standing'>,
): UserEnds => ({
  user: ends.user,
  allBut(session, name, passwordHash) {
    const user = users.byName(name);
    return ends.others(name, session, 0, user && standingDigest({ ...user, passwordHash }, standing));
  },
});

/** Builds the authorization server from its dependencies, top to bottom. */
export function createAuthorizationServer(
  options: OAuthOptions,
  parts: AuthorizationServerParts,
): BuiltAuthorizationServer {
  const { data, keys, sessions, users, standing, verifier, clock, random, events } = parts;
  const metrics = createTokenMetrics(parts.registry);
  const ends = createSessionEnds(options, { sessions, clock, logger: parts.logger, metrics, events });
  users.onChange((name) => void ends.changed(name, standingDigest(users.byName(name), standing)));
  const issuer = createTokenIssuer(options, { keys, standing, clock, random });
  const check = createTokenCheck(REFRESH, options, { keys, clock });
  const refreshTokens = createRefreshTokens(options, { check, liveUser: parts.liveUser, clock });
  const codes = createAuthorizationCodes(keys, clock);
  const grants = createGrants(options, { ...parts, codes, refreshTokens, ends, issuer, metrics });
  const { clientFailures, clientSecrets } = parts;
  const clients = createClientAuthentication(options, { clock, random, clientFailures, clientSecrets });
  const token = createTokenEndpoint({ platform: options.platform, clients, grants, data, metrics, events });
  // Users are no part of this data, so a session can be ended even if its user is disabled or not known.
  const dataOfEnds = createTokenData([keys, sessions], clock);
  const asked = { clients, sessions, clock, events };
  const revoke = createRevocation(options, {
    ...asked,
    data: dataOfEnds,
    keys,
    ends,
    results: metrics.revocationRequests,
  });
  const introspect = createIntrospection(options, {
    ...asked,
    data,
    verifier,
    refreshTokens,
    results: metrics.introspections,
  });
  const isForBrowsers = grants.has('authorization_code');
  const forBrowsers = isForBrowsers ? REQUEST_METADATA : undefined;
  const metadata = createMetadata(options, { grantTypes: [...grants.keys()], forBrowsers });
  const browserParts = { ...parts, codes, ends, dataOfEnds, metrics };
  const { endpoints: browser, pageSignIn, pageSessions } = createBrowserEndpoints(options, browserParts);
  const devices = createDevices(options, { ...parts, clients, signIn: pageSignIn, metrics });
  const publicClients = options.clients.filter((client) => client.public);
  const mayRead = createOriginTest(publicClients.flatMap(({ redirectURIs }) => redirectURIs));
  const formEndpoints = { token, revoke, introspect, device_authorization: devices };
  const bearerToken = createBearerTokens(options, verifier);
  return {
    checkFormHead: (endpoint, contentType, query) => formEndpoints[endpoint]?.checkHead(contentType, query),
    token: token.token,
    revoke: revoke.answer,
    introspect: introspect.answer,
    userinfo: createUserinfo(options, { bearerToken, standing }),
    ...(isForBrowsers || devices || options.hasPage ? { browser } : {}),
    ...(mayRead ? { mayRead } : {}),
    ...(devices ? { devices } : {}),
    logout: createLogout(options, { bearerToken, ends, events }),
    keys: createJwks(keys),
    metadata: () => metadata,
    ends: createUserEnds(ends, parts),
    pageSessions,
  };
}

/** `undefined` if no client has the device grant. */
const createDevices = (
  options: OAuthOptions,
  { metrics, ...parts }: Omit<DeviceParts, 'results'> & { readonly metrics: TokenMetrics },
): BuiltDeviceEndpoints | undefined =>
  hasDeviceGrant(options)
    ? createDeviceEndpoints(options, { ...parts, results: metrics.deviceAuthorizations })
    : undefined;

type GrantParts = CodeGrantParts &
  PasswordGrantParts &
  RefreshGrantParts &
  Omit<DeviceGrantParts, 'values'> &
  Pick<AuthorizationServerParts, 'keys'>;

/** The grants that this configuration has, keyed by `grant_type`. That of authorization codes needs a client with redirect addresses. */
function createGrants(options: OAuthOptions, parts: GrantParts): ReadonlyMap<string, Grant> {
  const isForBrowsers = options.clients.some(({ redirectURIs }) => redirectURIs.length > 0);
  const forBrowsers: readonly [string, Grant][] = isForBrowsers
    ? [['authorization_code', createCodeGrant(options, parts)]]
    : [];
  const values = createDeviceValues(parts.keys, parts.clock);
  const forDevices: readonly [string, Grant][] = hasDeviceGrant(options)
    ? [[DEVICE_GRANT, createDeviceGrant(options, { ...parts, values })]]
    : [];
  return new Map([
    ...forBrowsers,
    ['password', createPasswordGrant(options, parts)],
    ['refresh_token', createRefreshGrant(options, parts)],
    ...forDevices,
  ]);
}
