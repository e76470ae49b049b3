import { yamlLines } from '../../parts/yaml-lines.ts';

interface KubeconfigRequest {
  /** The address of this server, without a path. */
  readonly server: string;
  readonly user: string;
}

/**
 * A kubeconfig that points to this server and signs in with `gatehouse login`, as `gatehouse kubeconfig` writes it (docs/login.md). No secret is
 * in it. A browser does not tell the certificate of the authority, so the system has to trust it.
 */
export function kubeconfigText({ server, user }: KubeconfigRequest): string {
  const name = new URL(server).host;
  const userName = `${user}@${name}`;
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'gatehouse',
    args: ['login', `--server=${server}`, '--print=credential', `--username=${user}`],
    interactiveMode: 'IfAvailable',
    provideClusterInfo: false,
    installHint: 'gatehouse is not in PATH: install it, or name it by "gatehouse kubeconfig --command".',
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server } }],
    users: [{ name: userName, user: { exec } }],
    contexts: [{ name, context: { cluster: name, user: userName } }],
    'current-context': name,
  };
  const lines = yamlLines(config).map(({ depth, lead, text }) => `${'  '.repeat(depth)}${lead}${text}`);
  return `${lines.join('\n')}\n`;
}
