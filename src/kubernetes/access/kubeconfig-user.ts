import { isAbsolute, join } from 'node:path';
import type { ClusterAccess, ExecCommand, Source } from './cluster-access.ts';
import { isSendable } from './header-text.ts';
import type { ExecEntry } from './kubeconfig-schema.ts';
import type { LoadedUser } from './loaded-entries.ts';

/** The credential of a user in a kubeconfig. */
export type UserCredential = Pick<ClusterAccess, 'certificate' | 'key' | 'token' | 'basic' | 'exec'>;

/**
 * Chooses the credential as client-go does: an exec plugin is run only if there is no other. Throws an `Error` for settings that
 * client-go refuses, and for those with which the intended credential would not be used. `cluster` returns the cluster as it is
 * passed to the plugin.
 */
export function userCredential(user: LoadedUser, cluster: () => ExecCommand['cluster']): UserCredential {
  refuseContradictions(user);
  const own = ownCredential(user);
  const exec = user.execEntry && execCommand(user.execEntry, user.folder);
  if (Object.keys(own).length > 0) return own;
  if (user.execEntry === undefined || exec === undefined) return {};
  if (user.execEntry.interactiveMode === 'Always')
    throw new Error('has an exec plugin that needs a terminal (interactiveMode: Always)');
  return { exec: user.execEntry.provideClusterInfo ? { ...exec, ...clusterInfo(cluster()) } : exec };
}

const clusterInfo = (cluster: ExecCommand['cluster']): Pick<ExecCommand, 'cluster'> => (cluster ? { cluster } : {});

function refuseContradictions(user: LoadedUser): void {
  if (user.authProvider) throw new Error('asks for an auth-provider; use an exec plugin or a token file instead');
  const hasToken = user.token !== '' || user.tokenFile !== '';
  if (user.password !== '' && user.username === '') throw new Error('has a password without a username');
  if (hasToken && user.username !== '') throw new Error('has both a token and a password');
  if (user.token === 'REDACTED')
    throw new Error('has the token REDACTED, which kubectl config view shows without --raw');
  if (!isSendable(user.token)) throw new Error('has a token that no header can carry');
  const hasCertificate = user.certData !== '' || user.certFile !== '';
  const hasKey = user.keyData !== '' || user.keyFile !== '';
  if (hasCertificate && !hasKey) throw new Error('has a client certificate without its key');
  if (hasKey && !hasCertificate) throw new Error('has a client key without its certificate');
  onlyOne(user.certData, user.certFile, 'client-certificate');
  onlyOne(user.keyData, user.keyFile, 'client-key');
}

/** Throws an `Error` if both data and a file are set, as kubectl does. */
export function onlyOne(data: string, file: string, name: string): void {
  if (data !== '' && file !== '') throw new Error(`has both ${name}-data and ${name}`);
}

function ownCredential(user: LoadedUser): UserCredential {
  const { folder } = user;
  return {
    ...source('certificate', { data: user.certData, file: user.certFile, folder }),
    ...source('key', { data: user.keyData, file: user.keyFile, folder }),
    ...tokenSource(user),
    ...(user.username === '' ? {} : { basic: { username: user.username, password: user.password } }),
  };
}

/** A token file wins over the token as soon as it can be read. */
function tokenSource({ token, tokenFile, folder }: LoadedUser): Pick<ClusterAccess, 'token'> {
  if (tokenFile === '') return token === '' ? {} : { token: { data: token } };
  const file = beside(folder, tokenFile);
  return { token: token === '' ? { file } : { file, otherwise: token } };
}

/** The content (base64) if it is set, else the file, whose path may be relative to `folder`. */
export function source<K extends 'ca' | 'certificate' | 'key'>(
  name: K,
  { data, file, folder }: { readonly data: string; readonly file: string; readonly folder: string },
): Pick<ClusterAccess, K> {
  const found: Source | undefined =
    data !== '' ? { data: Buffer.from(data, 'base64') } : file !== '' ? { file: beside(folder, file) } : undefined;
  return (found ? { [name]: found } : {}) as Pick<ClusterAccess, K>;
}

/** Paths in a kubeconfig are relative to its folder. */
const beside = (folder: string, path: string): string => (isAbsolute(path) ? path : join(folder, path));

const GROUP = 'client.authentication.k8s.io';
const VERSIONS: readonly string[] = [`${GROUP}/v1`, `${GROUP}/v1beta1`];
const MODES: readonly string[] = ['Never', 'IfAvailable', 'Always'];

function execCommand(exec: ExecEntry, folder: string): ExecCommand {
  const { apiVersion, command, args, env, installHint } = exec;
  const fault = (text: string): Error => new Error(`has an exec plugin ${text}`);
  if (command === '') throw fault('without a command');
  if (apiVersion === '') throw fault('without an apiVersion');
  if (!VERSIONS.includes(apiVersion))
    throw fault(`of the apiVersion ${JSON.stringify(apiVersion)}; v1 and v1beta1 are known`);
  // `interactiveMode` has a default in v1beta1 and is required in v1.
  if (exec.interactiveMode === '' && apiVersion === `${GROUP}/v1`) throw fault('without an interactiveMode');
  if (!['', ...MODES].includes(exec.interactiveMode)) throw fault('with an unknown interactiveMode');
  if (env.some(({ name }) => name === '')) throw fault('with a variable without a name');
  // A bare name is looked up in PATH.
  const program = command.includes('/') ? beside(folder, command) : command;
  return { apiVersion, command: program, args, env, ...(installHint === '' ? {} : { installHint }) };
}
