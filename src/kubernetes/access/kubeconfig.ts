import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { proxyAt } from '../../runtime/text/proxy-variables.ts';
import type { ClusterAccess, ExecClusterInfo } from './cluster-access.ts';
import { impersonationHeaders } from './impersonation.ts';
import { type ContextEntry, type KubeconfigContent, parseKubeconfig } from './kubeconfig-schema.ts';
import { readKubeconfigText, toJsonValue } from './kubeconfig-text.ts';
import { onlyOne, source, type UserCredential, userCredential } from './kubeconfig-user.ts';
import {
  type Chosen,
  chooseEntries,
  type LoadedCluster,
  type LoadedUser,
  type MergedKubeconfig,
  mergeKubeconfig,
} from './loaded-entries.ts';
import { parseServerAddress, type ServerAddress } from './server-address.ts';

/**
 * No access to the cluster is configured, or the configured access cannot be used. The message is one sentence that says what
 * the operator has to change.
 */
export class ClusterAccessError extends Error {
  override readonly name = 'ClusterAccessError';
}

export interface KubeconfigRules {
  /** Whether a credential may be sent over plain http to another machine. Default: no. */
  readonly allowCredentialsOverHttp?: boolean | undefined;
}

/**
 * Reads the access of the current context of these files, as client-go does (decision 34). Throws a `ClusterAccessError` for a file
 * that is missing or not a kubeconfig, and for a setting that we do not support: no setting is ignored silently, and no value that
 * may be secret is quoted.
 */
export async function kubeconfigAccess(files: readonly string[], rules: KubeconfigRules = {}): Promise<ClusterAccess> {
  const merged: MergedKubeconfig = { clusters: new Map(), users: new Map(), contexts: new Map(), currentContext: '' };
  for (const file of files) {
    const content = await readContent(file).catch((cause: Error) => {
      // Without `cause`, because the message already contains its text, and a log would print it twice.
      throw new ClusterAccessError(`cannot read the kubeconfig ${file}: ${cause.message}`);
    });
    mergeKubeconfig(merged, content, dirname(resolve(file)));
  }
  const where = `the kubeconfig ${files.join(', ')}`;
  try {
    return toAccess(await chooseEntries(merged), where, rules);
  } catch (error) {
    throw new ClusterAccessError(`${where} ${(error as Error).message}`);
  }
}

const readContent = async (file: string): Promise<KubeconfigContent> =>
  parseKubeconfig(await readKubeconfigText(await readFile(file)));

function toAccess({ context, cluster, user }: Chosen, where: string, rules: KubeconfigRules): ClusterAccess {
  const address = parseServerAddress(cluster.address);
  const proxy = cluster.proxyUrl === '' ? {} : { proxy: proxyAt(cluster.proxyUrl, 'proxy-url') };
  const credential = user ? userCredential(user, () => clusterInfo(cluster, address)) : {};
  refuseCleartext(credential, { isPlain: address.isPlain, isOurs: address.isLoopback && !proxy.proxy }, rules);
  refuseUnread(user, credential);
  const impersonation = user && impersonationHeaders(user);
  const warnings = warningsOf(cluster, user, credential).map((warning) => `${where}: ${warning}`);
  return {
    inCluster: false,
    server: address.server,
    namespace: namespaceOf(context),
    ...trustOf(cluster),
    ...proxy,
    ...(impersonation ? { impersonation } : {}),
    ...credential,
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

function trustOf(cluster: LoadedCluster): Pick<ClusterAccess, 'ca' | 'serverName' | 'skipTlsVerify'> {
  const { caData, caFile, tlsServerName, skipTLSVerify: skipTlsVerify } = cluster;
  onlyOne(caData, caFile, 'certificate-authority');
  if (skipTlsVerify && caData + caFile !== '')
    throw new Error('has insecure-skip-tls-verify beside a certificate authority; remove one of them');
  const serverName = tlsServerName === '' ? {} : { serverName: tlsServerName };
  return { ...source('ca', { data: caData, file: caFile, folder: cluster.folder }), ...serverName, skipTlsVerify };
}

function clusterInfo(cluster: LoadedCluster, address: ServerAddress): ExecClusterInfo {
  return {
    server: address.asWritten,
    ...(cluster.tlsServerName === '' ? {} : { 'tls-server-name': cluster.tlsServerName }),
    ...(cluster.skipTLSVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(cluster.proxyUrl === '' ? {} : { 'proxy-url': cluster.proxyUrl }),
    ...(cluster.disableCompression ? { 'disable-compression': true } : {}),
    config: toJsonValue(cluster.execConfig),
  };
}

/**
 * Refuses to send a credential without TLS, except to this machine. Kubernetes' own clients would send the request without the
 * credential, and so anonymously.
 */
function refuseCleartext(
  credential: UserCredential,
  { isPlain, isOurs }: { readonly isPlain: boolean; readonly isOurs: boolean },
  { allowCredentialsOverHttp = false }: KubeconfigRules,
): void {
  if (!isPlain) return;
  if (credential.certificate)
    throw new Error('names its server by http://, and a client certificate, which only TLS carries');
  if (Object.keys(credential).length === 0 || isOurs || allowCredentialsOverHttp) return;
  throw new Error(
    'names its server by http://, which would carry the credential in clear text; use https://, or set kubernetes.allowCredentialsOverHttp',
  );
}

/** Refuses a user without a credential but with a member that no client reads, such as a misspelled one: we would be anonymous. */
function refuseUnread(user: LoadedUser | undefined, credential: UserCredential): void {
  if (!user || user.unknown.length === 0 || Object.keys(credential).length > 0) return;
  throw new Error(`has no credential, but ${unreadMember(user.unknown)}, which no client of Kubernetes reads`);
}

function warningsOf(
  cluster: LoadedCluster,
  user: LoadedUser | undefined,
  credential: UserCredential,
): readonly string[] {
  const unread = cluster.unknown.map((name) => `its cluster has ${JSON.stringify(name)}, which is not read`);
  if (user && user.unknown.length > 0) unread.push(`its user has ${unreadMember(user.unknown)}, which is not read`);
  if (user?.execEntry && !credential.exec)
    unread.push('its exec plugin is not run, since its user has another credential');
  return unread;
}

const MEMBERS = [
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'token',
  'tokenFile',
];
const KNOWN: ReadonlySet<string> = new Set(
  [...MEMBERS, 'username', 'password', 'as', 'as-uid', 'as-groups', 'as-user-extra', 'exec', 'auth-provider'].map(
    letters,
  ),
);

function letters(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}

/** Names an unknown member only if it is a misspelling of a known one: any other name may be a token that lacks its `token:`. */
function unreadMember(unknown: readonly string[]): string {
  const named = unknown.find((name) => KNOWN.has(letters(name)));
  return named === undefined ? 'a member' : JSON.stringify(named);
}

/** The name of a namespace (RFC 1123 label), which becomes part of paths. */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

function namespaceOf({ namespace }: ContextEntry): string | undefined {
  if (namespace === '') return undefined;
  if (!NAMESPACE.test(namespace)) throw new Error('has a namespace that is no name of one');
  return namespace;
}
