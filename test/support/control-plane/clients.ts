import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { request } from 'undici';
import { apiDispatcher } from './api-dispatcher.ts';

/** What a client needs to reach an API server. */
export interface ApiAccess {
  readonly url: string;
  /** Not needed if the URL is plain http. */
  readonly caFile?: string;
  readonly token: string;
}

/** Additional members for the cluster, the user and the context of a kubeconfig. */
interface KubeconfigParts {
  readonly cluster?: object | undefined;
  readonly user?: object | undefined;
  readonly context?: object | undefined;
}

/**
 * Writes `access` as a kubeconfig into `folder`, in JSON, which is also YAML. The file is replaced as a whole, because tests beside each other
 * write and read the same one.
 */
export async function writeKubeconfig(
  folder: string,
  name: string,
  access: ApiAccess,
  more: KubeconfigParts = {},
): Promise<string> {
  const file = join(folder, `${name}.yaml`);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'test', cluster: { server: access.url, 'certificate-authority': access.caFile, ...more.cluster } },
    ],
    users: [{ name: 'test', user: { token: access.token, ...more.user } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', ...more.context } }],
    'current-context': 'test',
  };
  const written = `${file}.${randomUUID()}`;
  await writeFile(written, JSON.stringify(config, null, 2), { mode: 0o600 });
  await rename(written, file);
  return file;
}

/** Runs `binary` with `input` on its standard input. If it ends with a code other than 0, rejects with its output. */
export function runTool(binary: string, args: readonly string[], input = ''): Promise<string> {
  const child = spawn(binary, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...ownCache(args) } });
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (texts.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (texts.stderr += text));
  child.stdin.on('error', () => undefined).end(input); // a tool that does not read it closes it early
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(texts.stdout);
      else reject(new Error(`${args.join(' ')} ended with code ${code}: ${texts.stderr}`));
    });
  });
}

/**
 * kubectl and Helm cache for hours which kinds a server has, by its address. Ports are used again, so a server would be confused with
 * an earlier one. So their cache is put beside the kubeconfig, and is removed with it.
 */
function ownCache(args: readonly string[]): { readonly KUBECACHEDIR?: string } {
  const kubeconfig = args[args.indexOf('--kubeconfig') + 1];
  return args.includes('--kubeconfig') && kubeconfig !== undefined
    ? { KUBECACHEDIR: join(dirname(kubeconfig), 'cache') }
    : {};
}

/** TokenRequest: https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/ */
export async function requestToken(
  access: ApiAccess,
  account: { namespace: string; name: string; audiences: readonly string[] },
): Promise<string> {
  const dispatcher = await apiDispatcher(access.caFile);
  try {
    const { namespace, name, audiences } = account;
    const answer = await request(`${access.url}/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
      dispatcher,
      method: 'POST',
      headers: { authorization: `Bearer ${access.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { audiences, expirationSeconds: 3600 },
      }),
    });
    const body = (await answer.body.json()) as { message?: string; status?: { token?: string } };
    if (!body.status?.token) throw new Error(`no token for ${namespace}/${name}: ${body.message}`);
    return body.status.token;
  } finally {
    await dispatcher.close();
  }
}
