import type { ClientConfig, Config } from '../config/config.ts';
import type { HttpServerOptions } from '../http/connection/server.ts';
import type { HttpLimits } from '../http/limits.ts';
import type { CallerAuthenticationOptions } from '../oauth/endpoints/caller-authentication.ts';
import type { SigningKeyOptions } from '../oauth/keys/signing-keys.ts';
import { type Client, longestTokenSeconds, type OAuthOptions } from '../oauth/options.ts';
import type { PasswordOptions } from '../users/password-sign-in.ts';
import type { AccountsOptions } from './accounts.ts';
import type { AuthorizationOptions } from './authorization.ts';
import type { GatewayServiceOptions } from './gateway.ts';
import type { ListMirrorsOptions } from './list-mirrors.ts';
import type { LogsOptions } from './logs.ts';
import type { SessionOptions } from './session-stores.ts';
import type { TokenServiceOptions } from './token-service.ts';
import type { UserSourceOptions } from './user-sources.ts';

/** Projections of the configuration: each part gets its own small options, made from the sections that it reads. */

type Sections<Names extends keyof Config> = Pick<Config, Names>;

const seconds = (ms: number): number => Math.floor(ms / 1000);

type OAuthSections = Sections<'platform' | 'authentication' | 'limits'>;

function toOAuthOptions({ platform, authentication, limits }: OAuthSections): OAuthOptions {
  const { oauthOptions } = authentication;
  return {
    platform,
    issuer: oauthOptions.issuer,
    accessTokenAudience: oauthOptions.accessTokenAudience ?? oauthOptions.issuer,
    accessTokenMaxAgeSeconds: seconds(oauthOptions.accessTokenMaxAge),
    accessTokenInactivityTimeoutSeconds: seconds(oauthOptions.accessTokenInactivityTimeout),
    sessionMaxAgeSeconds: seconds(oauthOptions.sessionMaxAge),
    refreshReplayWindowSeconds: seconds(oauthOptions.refreshReplayWindow),
    maximumClockSkewSeconds: seconds(authentication.maximumClockSkew),
    multipleLogin: authentication.multipleLogin,
    maxBearerBytes: limits.maxBearerBytes,
    clients: oauthOptions.clients.map(toClient),
    clientThrottle: {
      client: {
        limit: authentication.clientRateLimiterMaxTries,
        windowMs: authentication.clientRateLimiterDuration,
      },
      address: {
        limit: authentication.clientAddressRateLimiterMaxTries,
        windowMs: authentication.clientRateLimiterDuration,
      },
    },
  };
}

/** `undefined` when service accounts of the cluster may not call. */
function toServiceAccountOptions({
  serviceAccountTokens,
  oauthOptions,
}: Config['authentication']): TokenServiceOptions['serviceAccounts'] {
  const { enabled, audience = oauthOptions.accessTokenAudience ?? oauthOptions.issuer } = serviceAccountTokens;
  return enabled ? { audience } : undefined;
}

function toClient({ accessTokenMaxAge, accessTokenInactivityTimeout, ...client }: ClientConfig): Client {
  return {
    ...client,
    ...(accessTokenMaxAge === undefined ? {} : { accessTokenMaxAgeSeconds: seconds(accessTokenMaxAge) }),
    ...(accessTokenInactivityTimeout === undefined
      ? {}
      : { accessTokenInactivityTimeoutSeconds: seconds(accessTokenInactivityTimeout) }),
  };
}

type KeySections = OAuthSections & Sections<'keys' | 'authorization'>;

export function toSigningKeyOptions({ keys, authorization, ...oauth }: KeySections): SigningKeyOptions {
  const periodMs = oauth.authentication.oauthOptions.keyRotationPeriod;
  const tokenLifeMs = longestTokenSeconds(toOAuthOptions(oauth)) * 1000;
  const { secretName } = keys;
  const { maxStaleness: maxStalenessMs } = authorization;
  return { secretName, maxStalenessMs, rotation: { periodMs, tokenLifeMs } };
}

const toTokenReviewOptions = (
  platform: string,
  { callerAuth, clientNames = [] }: Config['authentication']['tokenReview'],
): CallerAuthenticationOptions => ({ platform, callerAuth, clientNames });

function toPasswordOptions(authentication: Config['authentication']): PasswordOptions {
  const { passwordGate, passwordHash } = authentication;
  return {
    throttle: {
      user: {
        limit: authentication.authenticateRateLimiterMaxTries,
        windowMs: authentication.authenticateRateLimiterDuration,
      },
      address: {
        limit: authentication.addressRateLimiterMaxTries,
        windowMs: authentication.addressRateLimiterDuration,
      },
    },
    gate: { concurrency: passwordGate.concurrency, queue: passwordGate.queue, maxWaitMs: passwordGate.maxWait },
    cost: passwordHash.cost,
    maxCost: passwordHash.maxCost,
  };
}

const toSessionOptions = ({
  platform,
  sessions,
  authorization,
}: Sections<'platform' | 'sessions' | 'authorization'>): SessionOptions => ({
  platform,
  store: sessions.store,
  maxStalenessMs: authorization.maxStaleness,
});

function toUserSourceOptions({
  platform,
  users,
  authentication,
  authorization,
}: Sections<'platform' | 'users' | 'authentication' | 'authorization'>): UserSourceOptions {
  const { cost: hashCost, maxCost: maxHashCost } = authentication.passwordHash;
  const { file, firstAdministrator, firstAdministratorWanted } = users;
  return {
    file: file === undefined ? undefined : { path: file, platform, maxHashCost },
    firstAdministrator: { ...firstAdministrator, hashCost, maxStalenessMs: authorization.maxStaleness },
    firstAdministratorWanted,
  };
}

export const toTokenServiceOptions = (
  config: KeySections & Sections<'sessions' | 'users' | 'accounts'>,
): TokenServiceOptions => ({
  oauth: toOAuthOptions(config),
  users: toUserSourceOptions(config),
  reservedNames: config.accounts.reservedNames,
  passwords: toPasswordOptions(config.authentication),
  keys: toSigningKeyOptions(config),
  sessions: toSessionOptions(config),
  tokenReview: toTokenReviewOptions(config.platform, config.authentication.tokenReview),
  callerTokenFile: config.authentication.tokenReview.callerTokenFile,
  serviceAccounts: toServiceAccountOptions(config.authentication),
});

export const toAuthorizationOptions = ({
  platform,
  authorization,
  sessions,
  accounts,
}: Sections<'platform' | 'authorization' | 'sessions' | 'accounts'>): AuthorizationOptions => ({
  platform,
  mode: authorization.mode,
  maxStalenessMs: authorization.maxStaleness,
  shareQuestions: authorization.shareQuestions,
  sessionStore: sessions.store,
  asksAboutOthers: accounts.enabled,
});

export const toAccountsOptions = ({
  platform,
  accounts: { passwordStore, reservedNames },
  authentication,
  authorization,
  nodes,
  gateway,
}: Sections<'platform' | 'accounts' | 'authentication' | 'authorization' | 'nodes' | 'gateway'>): AccountsOptions => ({
  platform,
  passwordStore,
  reservedNames,
  maxStalenessMs: authorization.maxStaleness,
  longestPeriodMs: nodes.selfCheck.longestPeriod,
  gatewayIsOpen: gateway.enabled,
  throttled: toPasswordOptions(authentication).throttle.user,
  periodMs: authentication.loginHistoryRetentionPeriod,
  maximumEntries: authentication.loginHistoryMaximumEntries,
});

export const toGatewayOptions = ({
  platform,
  accounts: { reservedNames },
  gateway: { allowProxySubresources, impersonation, unknownGroups },
  server: { streamDrain },
}: Sections<'platform' | 'accounts' | 'gateway' | 'server'>): GatewayServiceOptions => ({
  platform,
  reservedNames,
  allowProxySubresources,
  impersonation,
  unknownGroups,
  streamDrainMs: streamDrain,
});

/** `undefined` when no log store is configured. */
export function toLogsOptions({ logging }: Sections<'logging'>): LogsOptions | undefined {
  const { host, version, lokiNamespaceLabel, lokiPodLabel, lokiContainerLabel, ...options } = logging;
  if (host === undefined) return undefined;
  const lokiLabels = { namespace: lokiNamespaceLabel, pod: lokiPodLabel, container: lokiContainerLabel };
  return { ...options, lokiLabels, host, version: version === '' ? undefined : version };
}

const KIB = 1024;
const USUAL_HEADER_BYTES = 16 * KIB;
/**
 * A command of `exec` is in the request line, where kube-apiserver takes 1 MiB by default. A connection may keep that much of
 * ours for 10 s before anybody is known, so it is less: 1,000 connections of one address hold 64 MiB, an eighth of the
 * chart's memory limit.
 */
const GATEWAY_HEADER_BYTES = 64 * KIB;

export function toHttpLimits({ limits, gateway }: Sections<'limits' | 'gateway'>): HttpLimits {
  const { maxHeaderBytes, headersTimeout, bodyTimeout, keepAliveTimeout, answerTimeout, sendTimeout, ...counts } =
    limits;
  return {
    ...counts,
    maxHeaderBytes: maxHeaderBytes ?? (gateway.enabled ? GATEWAY_HEADER_BYTES : USUAL_HEADER_BYTES),
    maxHeaderBytesElsewhere: maxHeaderBytes ?? USUAL_HEADER_BYTES,
    headersTimeoutMs: headersTimeout,
    bodyTimeoutMs: bodyTimeout,
    keepAliveTimeoutMs: keepAliveTimeout,
    answerTimeoutMs: answerTimeout,
    sendTimeoutMs: sendTimeout,
  };
}

/** The time for answers in flight at the end of the delay: 15 s + 30 s stay inside the pod's grace period. */
const DRAIN_MS = 30_000;

export function toApiServerOptions(
  server: Config['server'],
  { clientCAFile }: Config['authentication']['tokenReview'],
): HttpServerOptions {
  const { tls, ...place } = listening(server);
  return {
    ...place,
    ...(tls ? { tls: { ...tls, ...(clientCAFile === undefined ? {} : { clientCAFile }) } } : {}),
    port: server.port,
    shutdownDelayMs: server.shutdownDelay,
    drainMs: DRAIN_MS,
    streamDrainMs: server.streamDrain,
  };
}

/** The metrics port closes when the API port has drained, and has nothing to wait for then. */
export function toMetricsServerOptions(server: Config['server']): HttpServerOptions {
  return { ...listening(server), port: server.metricsPort, shutdownDelayMs: 0, drainMs: 1000 };
}

function listening({ address, tls }: Config['server']): Pick<HttpServerOptions, 'address' | 'tls'> {
  return { ...(address === undefined ? {} : { address }), ...(tls === undefined ? {} : { tls }) };
}

/** The lists of the cluster's own kinds. */
export const toListMirrorsOptions = ({
  platform,
  nodes,
  logging,
}: Sections<'platform' | 'nodes' | 'logging'>): ListMirrorsOptions => ({
  platform,
  needsNamespaces: logging.host !== undefined,
  ...nodes,
});
