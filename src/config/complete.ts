import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { parseCallerToken } from '../runtime/text/caller-token.ts';
import { completeClients, type ReadFile } from './clients.ts';
import type { Config, Warnings } from './config.ts';
import { ConfigError, type Problem } from './problem.ts';
import type { FileConfig } from './schema.ts';
import { storeProblems, storesOf, storeWarnings } from './store-settings.ts';

/**
 * The web client of 3.4 refreshes when 10 minutes are left. With a lifetime below 15 minutes it would do little else.
 */
const SHORT_ACCESS_TOKEN_MS = 15 * 60_000;

/**
 * Fills in the settings that depend on other settings and on other files. Throws a `ConfigError` with every problem.
 */
export function complete(file: FileConfig, source: string, readFile: ReadFile): { config: Config; warnings: Warnings } {
  const { platform, authentication } = file;
  const { clients, problems, warnings } = completeClients(platform, authentication.oauthOptions.clients, readFile);
  const all = [
    ...problems,
    ...contradictions(file),
    ...tlsProblems(file.server.tls, readFile),
    ...tokenReviewProblems(file, readFile),
    ...storesOf(file).flatMap((store) => storeProblems(store, readFile)),
  ];
  if (all.length > 0) throw new ConfigError(source, all);
  const issuer = authentication.oauthOptions.issuer ?? `http://localhost:${file.server.port}/oauth`;
  const config: Config = {
    ...file,
    authentication: { ...authentication, oauthOptions: { ...authentication.oauthOptions, issuer, clients } },
    users: completeUsers(file),
    keys: { secretName: keySecretOf(file) },
  };
  return {
    config: deepFreeze(config),
    warnings: [
      ...warnings,
      ...settingWarnings(config),
      ...tokenReviewWarnings(file, readFile),
      ...storesOf(config).flatMap(storeWarnings),
    ],
  };
}

const keySecretOf = ({ keys, platform }: FileConfig): string => keys.secretName ?? `${platform}-signing-keys`;

function completeUsers({ platform, users }: FileConfig): Config['users'] {
  const asked = users.firstAdministrator;
  return {
    ...(users.file === undefined ? {} : { file: users.file }),
    firstAdministrator: {
      name: (asked || undefined)?.name ?? 'admin',
      groups: (asked || undefined)?.groups ?? [`${platform}-admins`],
      secretName: (asked || undefined)?.secretName ?? `${platform}-first-administrator`,
    },
    firstAdministratorWanted: asked === undefined ? 'in-cluster' : asked === false ? 'never' : 'always',
  };
}

function contradictions(file: FileConfig): Problem[] {
  const { server, authentication } = file;
  const problems = rotationProblems(file);
  if (server.port !== 0 && server.port === server.metricsPort)
    problems.push({ path: 'server.metricsPort', message: 'must differ from server.port' });
  if (authentication.passwordHash.cost > authentication.passwordHash.maxCost)
    problems.push({ path: 'authentication.passwordHash.cost', message: 'must not be above maxCost' });
  if (completeUsers(file).firstAdministrator.secretName === keySecretOf(file))
    problems.push({ path: 'users.firstAdministrator.secretName', message: 'must differ from keys.secretName' });
  if (file.gateway.rejectImpersonation === false)
    problems.push({ path: 'gateway.rejectImpersonation', message: NEVER_IGNORED });
  if (file.gateway.rejectImpersonation && file.gateway.impersonation === 'honour')
    problems.push({ path: 'gateway.rejectImpersonation', message: 'contradicts gateway.impersonation; remove it' });
  return [...problems, ...followProblems(file)];
}

function followProblems({ gateway, accounts }: FileConfig): Problem[] {
  const { enabled, clusterRoles } = gateway.accounts;
  if (!enabled) return [];
  const problem = (path: string, message: string): Problem => ({ path: `gateway.accounts.${path}`, message });
  return [
    ...(gateway.enabled ? [] : [problem('enabled', 'needs gateway.enabled')]),
    ...(accounts.enabled ? [] : [problem('enabled', 'needs accounts.enabled: it follows User objects')]),
    ...(clusterRoles.length > 0 ? [] : [problem('clusterRoles', 'must name at least one ClusterRole')]),
  ];
}

const NEVER_IGNORED =
  'is no longer a setting: headers are never ignored; set gateway.impersonation to refuse or honour';

/** A key stays listed while its tokens live. More keys than this would make the JWKS long and the Secret too big. */
const MOST_KEYS = 100;

function rotationProblems({ authentication: { oauthOptions } }: FileConfig): Problem[] {
  const { keyRotationPeriod, clients = [] } = oauthOptions;
  const lives = [oauthOptions, ...clients].map(
    (own) =>
      (own.accessTokenMaxAge ?? oauthOptions.accessTokenMaxAge) +
      (own.accessTokenInactivityTimeout ?? oauthOptions.accessTokenInactivityTimeout),
  );
  if (keyRotationPeriod === 0 || keyRotationPeriod * MOST_KEYS >= Math.max(...lives)) return [];
  const message = `must be 0, or at least a ${MOST_KEYS}th of the longest life of a refresh token`;
  return [{ path: 'authentication.oauthOptions.keyRotationPeriod', message }];
}

function settingWarnings(config: Config): string[] {
  const { issuer, accessTokenMaxAge } = config.authentication.oauthOptions;
  const warnings: string[] = [];
  if (issuer.startsWith('http:') && !isLoopback(new URL(issuer).hostname))
    warnings.push(
      'the issuer is plain http: passwords and tokens cross the network in clear unless something else protects them',
    );
  if (accessTokenMaxAge < SHORT_ACCESS_TOKEN_MS)
    warnings.push('accessTokenMaxAge is under 15m: clients that refresh 10 minutes ahead will refresh all the time');
  if (config.authorization.mode === 'AlwaysAllow')
    warnings.push(
      'authorization.mode is AlwaysAllow: everybody who signs in may do everything; for demonstrations only',
    );
  if (config.sessions.store === 'memory')
    warnings.push(
      'sessions.store is memory: a restart forgets which sessions were ended; access tokens of ended ones are good again until they expire, and no session from before it is refreshed',
    );
  const { enabled, audience } = config.authentication.serviceAccountTokens;
  if (enabled && audience?.startsWith(API_SERVER))
    warnings.push(
      'serviceAccountTokens.audience looks like that of the API server: every pod has a token for it, made for others',
    );
  return warnings;
}

/** The audience of every pod's own token begins with this, unless `--api-audiences` of the API server says otherwise. */
const API_SERVER = 'https://kubernetes.default';

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

const CERTIFICATE = 'server.tls.certFile';
const KEY = 'server.tls.keyFile';

/**
 * Checks whether TLS could start with these files. They are read again when the port is opened. The problems quote
 * nothing of the files.
 */
function tlsProblems(tls: FileConfig['server']['tls'], readFile: ReadFile): Problem[] {
  if (!tls) return [];
  const problems: Problem[] = [];
  const read = <Value>(setting: { path: string; file: string; kind: string }, parse: (pem: string) => Value) => {
    const found = readPem(() => readFile(setting.file), parse, setting.kind);
    if ('fault' in found) problems.push({ path: setting.path, message: found.fault });
    return 'fault' in found ? undefined : found.value;
  };
  const certificate = read({ path: CERTIFICATE, file: tls.certFile, kind: 'a certificate' }, toCertificate);
  const key = read({ path: KEY, file: tls.keyFile, kind: 'an unencrypted private key' }, toKey);
  if (certificate && key && !certificate.checkPrivateKey(key))
    problems.push({ path: KEY, message: 'is not the key of the certificate in certFile' });
  return problems;
}

const toCertificate = (pem: string): X509Certificate => new X509Certificate(pem);
const toKey = (pem: string): KeyObject => createPrivateKey(pem);

function readPem<Value>(
  read: () => string,
  parse: (pem: string) => Value,
  kind: string,
): { readonly value: Value } | { readonly fault: string } {
  let pem: string;
  try {
    pem = read();
  } catch (error) {
    return { fault: `cannot read the file: ${(error as Error).message}` };
  }
  try {
    return { value: parse(pem) };
  } catch {
    // Does not pass on the parser's message, which may quote what it could not read.
    return { fault: `the file does not hold ${kind} in PEM` };
  }
}

const SECTION = 'authentication.tokenReview';

/** A shorter token can be guessed online, like a client's secret. */
const SHORT_TOKEN = 16;

/** The contradictions in the settings of the webhook, and files that cannot be used. Quotes nothing of the files. */
function tokenReviewProblems({ authentication, server }: FileConfig, readFile: ReadFile): Problem[] {
  const { callerAuth, callerTokenFile, clientCAFile, clientNames } = authentication.tokenReview;
  const problems: Problem[] = [];
  const add = (setting: string, message: string | undefined): void => {
    if (message !== undefined) problems.push({ path: `${SECTION}.${setting}`, message });
  };
  if (callerAuth === 'none' && (callerTokenFile ?? clientCAFile) !== undefined)
    add('callerAuth', 'is none, so callerTokenFile and clientCAFile would protect nothing');
  if (callerTokenFile !== undefined)
    add(
      'callerTokenFile',
      tokenFault(() => readFile(callerTokenFile)),
    );
  if (clientCAFile !== undefined && !server.tls)
    add('clientCAFile', 'needs server.tls: without TLS there are no client certificates');
  else if (clientCAFile !== undefined)
    add(
      'clientCAFile',
      authorityFault(() => readFile(clientCAFile)),
    );
  // An authority signs for many holders. Without names, each of them could have tokens reviewed.
  if (clientCAFile !== undefined && !clientNames)
    add('clientNames', 'is needed with clientCAFile: name the callers whose certificates let them in');
  if (clientCAFile === undefined && clientNames)
    add('clientNames', 'needs clientCAFile: without it no client certificate is looked at');
  return problems;
}

/** What the operator should know at start. The files have been checked before. */
function tokenReviewWarnings({ authentication }: FileConfig, readFile: ReadFile): string[] {
  const { callerAuth, callerTokenFile } = authentication.tokenReview;
  if (callerAuth === 'none')
    return ['authentication.tokenReview.callerAuth is none: anybody who reaches the API port may have tokens reviewed'];
  const token = callerTokenFile === undefined ? undefined : parseCallerToken(readFile(callerTokenFile));
  return token !== undefined && token.length < SHORT_TOKEN
    ? [
        `the bearer in authentication.tokenReview.callerTokenFile is easy to guess: use at least ${SHORT_TOKEN} random characters`,
      ]
    : [];
}

function tokenFault(read: () => string): string | undefined {
  const text = readText(read);
  if ('fault' in text) return text.fault;
  return parseCallerToken(text.value) === undefined
    ? 'the file does not hold one bearer token: letters, digits and "-._~+/"'
    : undefined;
}

function authorityFault(read: () => string): string | undefined {
  const text = readText(read);
  if ('fault' in text) return text.fault;
  try {
    new X509Certificate(text.value);
    return undefined;
  } catch {
    return 'the file does not hold a certificate in PEM';
  }
}

function readText(read: () => string): { readonly value: string } | { readonly fault: string } {
  try {
    return { value: read() };
  } catch (error) {
    return { fault: `cannot read the file: ${(error as Error).message}` };
  }
}
