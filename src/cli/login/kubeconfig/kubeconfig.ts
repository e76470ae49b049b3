import type { KubeconfigRequest } from '../login-arguments.ts';
import { yamlText } from './yaml-text.ts';

interface KubeconfigParts {
  /** The CA certificates (PEM) that the server's certificate is verified with; `undefined`: those of the system. */
  readonly authority: string | undefined;
}

/** A kubeconfig that points to Gatehouse and signs in with `gatehouse login`. */
export function kubeconfigText(request: KubeconfigRequest, { authority }: KubeconfigParts): string {
  const { server, username, namespace, command } = request;
  const name = request.name ?? new URL(server).host;
  const user = `${username ?? 'gatehouse'}@${name}`;
  const data = authority === undefined ? undefined : Buffer.from(authority).toString('base64');
  const context = { cluster: name, user, ...(namespace === undefined ? {} : { namespace }) };
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command,
    args: loginArguments(request, data),
    interactiveMode: 'IfAvailable',
    provideClusterInfo: false,
    installHint: 'gatehouse is not in PATH: install it, or name it by "gatehouse kubeconfig --command".',
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, ...(data === undefined ? {} : { 'certificate-authority-data': data }) } }],
    users: [{ name: user, user: { exec } }],
    contexts: [{ name, context }],
    'current-context': name,
  };
  return yamlText(config);
}

/**
 * The arguments repeat the CA certificates, because not every client passes the cluster of the kubeconfig on to its plug-in. They
 * hold the certificates themselves, because other machines may not have the file. `--print` is there because some clients do not
 * set KUBERNETES_EXEC_INFO.
 */
function loginArguments(request: KubeconfigRequest, authority: string | undefined): readonly string[] {
  const { server, username, clientId, clientSecretFile, passwordFile, way, sessionFile } = request;
  const options = {
    server,
    print: 'credential',
    username,
    'client-id': clientId === 'gatehouse' ? undefined : clientId,
    'client-secret-file': clientSecretFile,
    'password-file': passwordFile,
    'session-file': sessionFile,
    'certificate-authority-data': authority,
  };
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return ['login', ...given.map(([option, value]) => `--${option}=${value}`), ...(way ? [OPTION_OF[way]] : [])];
}

const OPTION_OF = { browser: '--browser', device: '--device', password: '--no-browser' } as const;
