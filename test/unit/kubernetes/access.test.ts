import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findAccess } from '../../../src/kubernetes/find-access.ts';
import { inClusterAccess } from '../../../src/kubernetes/in-cluster.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-access-'));
});
afterEach(() => rm(folder, { recursive: true }));

const file = async (name: string, text: string): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
};

const kubeconfig = (cluster: string, user: string): string => `
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: one, user: me, namespace: apps}}]
clusters: [{name: one, cluster: {server: "https://10.0.0.1:6443/prefix/"${cluster}}}]
users: [{name: me, user: {${user}}}]
`;

const read = async (text: string) => findAccess({ kubeconfig: await file('config', text) });

describe('access by kubeconfig', () => {
  test('takes server, namespace and what stands in the file', async () => {
    const pem = Buffer.from('PEM').toString('base64');
    const user = `client-certificate-data: ${pem}, client-key-data: ${pem}`;
    expect(await read(kubeconfig(`, certificate-authority-data: ${pem}, tls-server-name: api`, user))).toEqual({
      inCluster: false,
      server: 'https://10.0.0.1:6443/prefix',
      namespace: 'apps',
      ca: { data: Buffer.from('PEM') },
      certificate: { data: Buffer.from('PEM') },
      key: { data: Buffer.from('PEM') },
      serverName: 'api',
      skipTlsVerify: false,
    });
  });

  test('takes files relative to its own place', async () => {
    const user = 'client-certificate: tls/me.crt, client-key: /abs/me.key, tokenFile: me.token';
    expect(await read(kubeconfig(', certificate-authority: ca.crt', user))).toMatchObject({
      ca: { file: join(folder, 'ca.crt') },
      certificate: { file: join(folder, 'tls/me.crt') },
      key: { file: '/abs/me.key' },
      token: { file: join(folder, 'me.token') },
    });
  });

  test('takes an exec plugin, and a user with a password', async () => {
    const exec = 'exec: {command: get-token, args: [a], apiVersion: client.authentication.k8s.io/v1}';
    expect((await read(kubeconfig('', exec))).exec).toMatchObject({ command: 'get-token', args: ['a'] });
    const basic = { username: 'u', password: 'p' };
    expect((await read(kubeconfig('', 'username: u, password: p'))).basic).toEqual(basic);
  });

  test('ignores a proxy', async () => {
    expect(await read(kubeconfig(', proxy-url: "http://proxy:1"', 'token: t'))).not.toHaveProperty('proxyUrl');
  });

  test('takes the first file of KUBECONFIG that names a thing', async () => {
    const other = kubeconfig('', 'token: second').replace('10.0.0.1', '10.0.0.2');
    const files = [
      await file('first', 'kind: Config\nusers: [{name: me, user: {token: first}}]'),
      await file('second', other),
    ];
    expect(await findAccess({ environment: { KUBECONFIG: files.join(delimiter) } })).toMatchObject({
      server: 'https://10.0.0.2:6443/prefix',
      token: { data: 'first' },
    });
  });

  test.each([
    ['missing', undefined, /^cannot read the kubeconfig .*config: ENOENT/],
    ['empty', '', /^cannot read the kubeconfig .*: it holds no settings$/],
    ['not YAML', 'a: s3cret\nb: [', /^cannot read the kubeconfig .*: not YAML at line 2$/],
    ['without an anchor', 'a: *s3cret', /^cannot read the kubeconfig .*: not YAML$/],
    ['without a current context', 'kind: Config', /^the kubeconfig .* has no current context$/],
    ['without its cluster', 'current-context: a\ncontexts: [{name: a, context: {cluster: b}}]', /has no cluster "b"$/],
    [
      'with an auth-provider',
      kubeconfig('', 'auth-provider: {name: oidc}'),
      /asks for an auth-provider; use an exec plugin/,
    ],
  ])('tells in one sentence of a file that is %s', async (_what, text, sentence) => {
    const path = text === undefined ? join(folder, 'config') : await file('config', text);
    await expect(findAccess({ kubeconfig: path })).rejects.toThrow(sentence);
  });

  test('never quotes the file in an error', async () => {
    const error = await read('users: [{name: me, user: {token: canary\n').catch((thrown: Error) => thrown);
    expect(String(error)).not.toContain('canary');
  });
});

describe('access in a pod', () => {
  test('takes the service account, and the address that the kubelet gave', async () => {
    await file('token', 't');
    await file('namespace', 'apps\n');
    const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
    expect(await inClusterAccess(environment, folder)).toEqual({
      inCluster: true,
      server: 'https://[fd00::1]:6443',
      namespace: 'apps',
      ca: { file: join(folder, 'ca.crt') },
      token: { file: join(folder, 'token') },
      skipTlsVerify: false,
    });
  });

  test('falls back to the name of the Service, and is none without a token', async () => {
    expect(await inClusterAccess({}, folder)).toBeUndefined();
    await file('token', 't');
    expect((await inClusterAccess({}, folder))?.server).toBe('https://kubernetes.default.svc:443');
  });
});
