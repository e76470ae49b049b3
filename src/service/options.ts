import type { ClientConfig, Config } from '../config/config.ts';
import type { HttpServerOptions } from '../http/connection/server.ts';
import type { HttpLimits } from '../http/limits.ts';
import type { CallerAuthenticationOptions } from '../oauth/endpoints/caller-authentication.ts';
import type { SigningKeyOptions } from '../oauth/keys/signing-keys.ts';
import { type Client, longestTokenSeconds, type OAuthOptions } from '../oauth/options.ts';
import type { PasswordOptions } from '../users/password-sign-in.ts';
import type { SessionOptions } from './session-stores.ts';
import type { TokenServiceOptions } from './token-service.ts';
import type { UserSourceOptions } from './user-sources.ts';

/** Projections of the configuration: each part gets its own small options, never the whole. */

const seconds = (ms: number): number => Math.floor(ms / 1000);

function toOAuthOptions({ platform, authentication, limits }: Config): OAuthOptions {
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
function toServiceAccountOptions({ authentication }: Config): TokenServiceOptions['serviceAccounts'] {
  const { serviceAccountTokens, oauthOptions } = authentication;
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

export function toSigningKeyOptions(config: Config): SigningKeyOptions {
  const periodMs = config.authentication.oauthOptions.keyRotationPeriod;
  const tokenLifeMs = longestTokenSeconds(toOAuthOptions(config)) * 1000;
  const { secretName } = config.keys;
  const { maxStaleness: maxStalenessMs } = config.authorization;
  return { secretName, maxStalenessMs, rotation: { periodMs, tokenLifeMs } };
}

const toTokenReviewOptions = ({ platform, authentication }: Config): CallerAuthenticationOptions => ({
  platform,
  callerAuth: authentication.tokenReview.callerAuth,
  clientNames: authentication.tokenReview.clientNames ?? [],
});

function toPasswordOptions({ authentication }: Config): PasswordOptions {
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

const toSessionOptions = ({ platform, sessions, authorization }: Config): SessionOptions => ({
  platform,
  store: sessions.store,
  maxStalenessMs: authorization.maxStaleness,
});

function toUserSourceOptions({ platform, users, authentication, authorization }: Config): UserSourceOptions {
  const { cost: hashCost, maxCost: maxHashCost } = authentication.passwordHash;
  const { file, firstAdministrator, firstAdministratorWanted } = users;
  return {
    file: file === undefined ? undefined : { path: file, platform, maxHashCost },
    firstAdministrator: { ...firstAdministrator, hashCost, maxStalenessMs: authorization.maxStaleness },
    firstAdministratorWanted,
  };
}

export const toTokenServiceOptions = (config: Config): TokenServiceOptions => ({
  oauth: toOAuthOptions(config),
  users: toUserSourceOptions(config),
  passwords: toPasswordOptions(config),
  keys: toSigningKeyOptions(config),
  sessions: toSessionOptions(config),
  tokenReview: toTokenReviewOptions(config),
  callerTokenFile: config.authentication.tokenReview.callerTokenFile,
  serviceAccounts: toServiceAccountOptions(config),
});

export function toHttpLimits({ limits }: Config): HttpLimits {
  const { headersTimeout, bodyTimeout, keepAliveTimeout, answerTimeout, ...counts } = limits;
  return {
    ...counts,
    headersTimeoutMs: headersTimeout,
    bodyTimeoutMs: bodyTimeout,
    keepAliveTimeoutMs: keepAliveTimeout,
    answerTimeoutMs: answerTimeout,
  };
}

/** The time for answers in flight at the end of the delay: 15 s + 30 s stay inside the pod's grace period of 50 s. */
const DRAIN_MS = 30_000;

export function toApiServerOptions({ server, authentication }: Config): HttpServerOptions {
  const { tls, ...place } = listening(server);
  const { clientCAFile } = authentication.tokenReview;
  return {
    ...place,
    ...(tls ? { tls: { ...tls, ...(clientCAFile === undefined ? {} : { clientCAFile }) } } : {}),
    port: server.port,
    shutdownDelayMs: server.shutdownDelay,
    drainMs: DRAIN_MS,
  };
}

/** The metrics port closes when the API port has drained, and has nothing to wait for then. */
export function toMetricsServerOptions({ server }: Config): HttpServerOptions {
  return { ...listening(server), port: server.metricsPort, shutdownDelayMs: 0, drainMs: 1000 };
}

function listening({ address, tls }: Config['server']): Pick<HttpServerOptions, 'address' | 'tls'> {
  return { ...(address === undefined ? {} : { address }), ...(tls === undefined ? {} : { tls }) };
}
