import type { ClientConfig, Config } from '../config/config.ts';
import type { CallerAuthenticationOptions } from '../oauth/endpoints/caller-authentication.ts';
import type { SigningKeyOptions } from '../oauth/keys/signing-keys.ts';
import { type Client, longestTokenSeconds, type OAuthOptions } from '../oauth/options.ts';
import type { PasswordOptions } from '../users/password-sign-in.ts';
import type { SessionOptions } from './session-stores.ts';
import type { TokenServiceOptions } from './token-service.ts';
import type { UserSourceOptions } from './user-sources.ts';

const seconds = (ms: number): number => Math.floor(ms / 1000);

type OAuthSections = Pick<Config, 'platform' | 'authentication' | 'limits' | 'page'>;

function toOAuthOptions({ platform, authentication, limits, page }: OAuthSections): OAuthOptions {
  const { oauthOptions } = authentication;
  return {
    platform,
    issuer: oauthOptions.issuer,
    accessTokenAudience: oauthOptions.accessTokenAudience ?? oauthOptions.issuer,
    accessTokenMaxAgeSeconds: seconds(oauthOptions.accessTokenMaxAge),
    accessTokenInactivityTimeoutSeconds: seconds(oauthOptions.accessTokenInactivityTimeout),
    sessionMaxAgeSeconds: seconds(oauthOptions.sessionMaxAge),
    browserSessionMaxAgeSeconds: seconds(oauthOptions.browserSessionMaxAge),
    browserSessionIdleSeconds: seconds(oauthOptions.browserSessionIdle),
    ...(oauthOptions.emailFallbackDomain === undefined
      ? {}
      : { emailFallbackDomain: oauthOptions.emailFallbackDomain }),
    refreshReplayWindowSeconds: seconds(oauthOptions.refreshReplayWindow),
    maximumClockSkewSeconds: seconds(authentication.maximumClockSkew),
    multipleLogin: authentication.multipleLogin,
    maxBearerBytes: limits.maxBearerBytes,
    clients: oauthOptions.clients.map(toClient),
    hasPage: page.enabled,
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

function toClient({ accessTokenMaxAge, accessTokenInactivityTimeout, idTokenMaxAge, ...client }: ClientConfig): Client {
  return {
    ...client,
    ...(accessTokenMaxAge === undefined ? {} : { accessTokenMaxAgeSeconds: seconds(accessTokenMaxAge) }),
    ...(accessTokenInactivityTimeout === undefined
      ? {}
      : { accessTokenInactivityTimeoutSeconds: seconds(accessTokenInactivityTimeout) }),
    ...(idTokenMaxAge === undefined ? {} : { idTokenMaxAgeSeconds: seconds(idTokenMaxAge) }),
  };
}

type KeySections = OAuthSections & Pick<Config, 'keys' | 'authorization'>;

/** The options of the signing keys in this configuration. */
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

/** The options of password sign-ins in this configuration. */
export function toPasswordOptions(authentication: Config['authentication']): PasswordOptions {
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
}: Pick<Config, 'platform' | 'sessions' | 'authorization'>): SessionOptions => ({
  platform,
  store: sessions.store,
  maxStalenessMs: authorization.maxStaleness,
});

function toUserSourceOptions({
  platform,
  users,
  authentication,
  authorization,
}: Pick<Config, 'platform' | 'users' | 'authentication' | 'authorization'>): UserSourceOptions {
  const { cost: hashCost, maxCost: maxHashCost } = authentication.passwordHash;
  const { file, firstAdministrator, firstAdministratorWanted } = users;
  return {
    file: file === undefined ? undefined : { path: file, platform, maxHashCost },
    firstAdministrator: { ...firstAdministrator, hashCost, maxStalenessMs: authorization.maxStaleness },
    firstAdministratorWanted,
  };
}

/** The options of sign-in and tokens in this configuration. */
export const toTokenServiceOptions = (
  config: KeySections & Pick<Config, 'sessions' | 'users' | 'accounts'>,
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
