import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Cluster, Context, User } from '@kubernetes/client-node/dist/config_types.js';
import type { YAMLParseError } from 'yaml';
import type { ClusterAccess, ExecCommand, ImpersonationHeaders, Source } from './cluster-access.ts';
import { proxyAt } from './proxy.ts';

/**
 * The merged content of several kubeconfig files. The first file to name a thing wins ("Organizing Cluster Access").
 */
interface Entries {
  clusters: Cluster[];
  users: (User & { readonly tokenFile?: string; readonly raw: NonNullable<RawUser['user']> })[];
  contexts: Context[];
  currentContext: string | undefined;
}

/**
 * No access to the cluster is configured, or the configured one cannot be used. The message is one sentence that tells
 * the operator what to do.
 */
export class ClusterAccessError extends Error {
  override readonly name = 'ClusterAccessError';
}

/**
 * Reads the access that the current context of these files names. Throws a `ClusterAccessError` for a file that is
 * missing or no kubeconfig, and for a setting that cannot be followed: no setting is dropped silently.
 */
export async function kubeconfigAccess(files: readonly string[]): Promise<ClusterAccess> {
  const all: Entries = { clusters: [], users: [], contexts: [], currentContext: undefined };
  for (const file of files) {
    const one = await readEntries(file).catch((cause: Error) => {
      // No `cause`: the sentence already says all of it, and a log would print it a second time.
      throw new ClusterAccessError(`cannot read the kubeconfig ${file}: ${faultOf(cause)}`);
    });
    all.clusters.push(...one.clusters);
    all.users.push(...one.users);
    all.contexts.push(...one.contexts);
    all.currentContext ??= one.currentContext;
  }
  return toAccess(all, files.join(', '));
}

/**
 * The parser's messages may quote a token, so only the line number is taken from them. An error about an alias without
 * its anchor has no line number.
 */
function faultOf(error: Error): string {
  const isYaml = error.name === 'YAMLParseError' || error.name === 'ReferenceError';
  if (!isYaml) return error.message;
  const { linePos: [start] = [] } = error as YAMLParseError;
  return start ? `not YAML at line ${start.line}` : 'not YAML';
}

async function readEntries(file: string): Promise<Entries> {
  // The schema module of the client library's KubeConfig costs 5 ms and 5 MB. The class itself also loads the generated
  // API classes: 350 ms and 45 MB that a server which makes plain requests never uses.
  const { newClusters, newContexts, newUsers } = await import('@kubernetes/client-node/dist/config_types.js');
  const { parse } = await import('yaml');
  const text = await readFile(file, 'utf8');
  const content: unknown = parse(text);
  if (typeof content !== 'object' || content === null) throw new Error('it holds no settings');
  const { clusters, users, contexts, 'current-context': current } = content as Record<string, unknown>;
  const folder = dirname(file);
  return {
    clusters: newClusters(clusters).map((cluster) => ({ ...cluster, ...absolute(folder, cluster, ['caFile']) })),
    users: newUsers(withoutTokenFiles(users)).map((user) => ({
      ...user,
      ...absolute(folder, user, ['certFile', 'keyFile']),
      ...tokenFile(folder, rawUser(users, user.name)),
      raw: rawUser(users, user.name),
    })),
    contexts: newContexts(contexts),
    currentContext: typeof current === 'string' && current !== '' ? current : undefined,
  };
}

/** Paths in a kubeconfig are relative to it. */
function absolute<T extends object, K extends keyof T & string>(folder: string, entry: T, names: K[]): Partial<T> {
  const paths = names.filter((name) => typeof entry[name] === 'string');
  return Object.fromEntries(paths.map((name) => [name, resolve(folder, String(entry[name]))])) as Partial<T>;
}

type RawUser = { readonly name?: string; readonly user?: Readonly<Record<string, unknown>> };
const rawUsers = (users: unknown): RawUser[] => (Array.isArray(users) ? users : []);

/** The library never reads `tokenFile`, and reads `token-file` only once. We watch both ourselves. */
const withoutTokenFiles = (users: unknown): RawUser[] =>
  rawUsers(users).map((entry) => ({ ...entry, user: { ...entry.user, 'token-file': undefined } }));

const rawUser = (users: unknown, name: string): NonNullable<RawUser['user']> =>
  rawUsers(users).find((entry) => entry.name === name)?.user ?? {};

function tokenFile(folder: string, user: NonNullable<RawUser['user']>): { tokenFile?: string } {
  const file = user['tokenFile'] ?? user['token-file'];
  return typeof file === 'string' && file !== '' ? { tokenFile: resolve(folder, file) } : {};
}

function toAccess(all: Entries, where: string): ClusterAccess {
  const context = all.contexts.find((entry) => entry.name === all.currentContext);
  if (!context) throw new ClusterAccessError(`the kubeconfig ${where} has no current context`);
  const cluster = all.clusters.find((entry) => entry.name === context.cluster);
  if (!cluster) throw new ClusterAccessError(`the kubeconfig ${where} has no cluster "${context.cluster}"`);
  if (!URL.canParse(cluster.server))
    throw new ClusterAccessError(`the kubeconfig ${where} has no valid server address`);
  const user = all.users.find((entry) => entry.name === context.user);
  if (user?.authProvider) {
    throw new ClusterAccessError(
      `the kubeconfig ${where} asks for an auth-provider; use an exec plugin or a token file instead`,
    );
  }
  return {
    inCluster: false,
    server: cluster.server,
    namespace: context.namespace,
    ...source('ca', cluster.caFile, cluster.caData),
    ...(cluster.tlsServerName ? { serverName: cluster.tlsServerName } : {}),
    skipTlsVerify: cluster.skipTLSVerify,
    ...usable(where, () => ({ ...proxyOf(cluster), ...(user ? impersonation(user) : {}) })),
    ...(user ? toCredential(user) : {}),
  };
}

function usable<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ClusterAccessError(`the kubeconfig ${where} ${(error as Error).message}`);
  }
}

const proxyOf = ({ proxyUrl }: Cluster): { proxy?: URL } => (proxyUrl ? { proxy: proxyAt(proxyUrl, 'proxy-url') } : {});

function impersonation({ raw }: Entries['users'][number]): { impersonation?: ImpersonationHeaders } {
  const headers = impersonationHeaders(raw);
  return headers ? { impersonation: headers } : {};
}

function toCredential(user: Entries['users'][number]): Partial<ClusterAccess> {
  return {
    ...source('certificate', user.certFile, user.certData),
    ...source('key', user.keyFile, user.keyData),
    // A token file wins over a token, as in kubectl.
    ...(user.tokenFile ? { token: { file: user.tokenFile } } : user.token ? { token: { data: user.token } } : {}),
    ...(user.username ? { basic: { username: user.username, password: user.password ?? '' } } : {}),
    ...(user.exec ? { exec: user.exec as ExecCommand } : {}),
  };
}

/** Data, which is base64 of PEM, wins over a file, as in kubectl. */
function source<K extends string>(name: K, file?: string | null, data?: string | null): { [N in K]?: Source } {
  if (data) return { [name]: { data: Buffer.from(data, 'base64') } } as { [N in K]: Source };
  return (file ? { [name]: { file } } : {}) as { [N in K]?: Source };
}

type Members = Readonly<Record<string, unknown>>;

/** Characters of a header name (RFC 9110 5.6.2), but for `%`, which begins an escape. */
const PLAIN_KEY_BYTE = /[!#$&'*+\-.^_`|~0-9A-Za-z]/;
const UNSENDABLE = /[\r\n\0]/;

/**
 * The headers of a kubeconfig user's `as`, `as-groups`, `as-uid` and `as-user-extra`
 * (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation); `undefined` without
 * them. Throws an `Error` that says what cannot be used: if a setting were dropped, we would act with the rights of the
 * wrong user.
 */
function impersonationHeaders(user: Members): ImpersonationHeaders | undefined {
  const name = text(user, 'as');
  const uid = text(user, 'as-uid');
  const groups = texts(user['as-groups'], 'as-groups');
  const extra = Object.entries(members(user['as-user-extra'], 'as-user-extra')).map(
    ([key, values]) => [`impersonate-extra-${escaped(key)}`, texts(values, 'as-user-extra')] as const,
  );
  if (name === '') {
    if (uid === '' && groups.length === 0 && extra.length === 0) return undefined;
    throw new Error('asks for as-uid, as-groups or as-user-extra without as');
  }
  return {
    'impersonate-user': name,
    ...(uid === '' ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...Object.fromEntries(extra),
  };
}

function text(user: Members, setting: string): string {
  const value = user[setting] ?? '';
  if (typeof value !== 'string') throw new Error(`has an ${setting} that is no text`);
  return sendable(value, setting);
}

function texts(value: unknown, setting: string): readonly string[] {
  const all: unknown = value ?? [];
  if (!Array.isArray(all) || !all.every((one) => typeof one === 'string'))
    throw new Error(`has an ${setting} that is no list of texts`);
  return all.map((one) => sendable(one, setting));
}

function members(value: unknown, setting: string): Members {
  const all = value ?? {};
  if (typeof all !== 'object' || Array.isArray(all)) throw new Error(`has an ${setting} that is no map of lists`);
  return all as Members;
}

/** Header values are bytes, which undici takes as latin1; the API server reads them as UTF-8. */
function sendable(value: string, setting: string): string {
  if (UNSENDABLE.test(value)) throw new Error(`has an ${setting} that no header can carry`);
  return Buffer.from(value).toString('latin1');
}

/** Percent-encoded where a header name cannot hold the byte, as client-go does. */
const escaped = (key: string): string =>
  Array.from(Buffer.from(key), (byte) => {
    const character = String.fromCharCode(byte);
    return PLAIN_KEY_BYTE.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
