import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findAccess, inClusterAccess } from '../../../../src/kubernetes/access/find-access.ts';

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
    const exec =
      'exec: {command: get-token, args: [a], apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}';
    expect((await read(kubeconfig('', exec))).exec).toMatchObject({ command: 'get-token', args: ['a'] });
    const basic = { username: 'u', password: 'p' };
    expect((await read(kubeconfig('', 'username: u, password: p'))).basic).toEqual(basic);
  });

  test('takes its proxy, which wins over those of the environment', async () => {
    const path = await file('config', kubeconfig(', proxy-url: "http://u:p@proxy:1"', 'token: t'));
    const environment = { HTTPS_PROXY: 'http://other:2' };
    expect((await findAccess({ kubeconfig: path, environment })).proxy?.href).toBe('http://u:p@proxy:1/');
  });

  test('takes the proxy of the environment', async () => {
    const path = await file('config', kubeconfig('', 'token: t'));
    const environment = { HTTPS_PROXY: 'http://other:2' };
    expect((await findAccess({ kubeconfig: path, environment })).proxy?.href).toBe('http://other:2/');
    expect(await findAccess({ kubeconfig: path, environment: {} })).not.toHaveProperty('proxy');
  });

  test('tells in one sentence of a proxy of the environment that cannot be used', async () => {
    const path = await file('config', kubeconfig('', 'token: t'));
    await expect(findAccess({ kubeconfig: path, environment: { HTTPS_PROXY: 'socks5://u:canary@p' } })).rejects.toThrow(
      /^the environment names a proxy with socks5:\/\/ in HTTPS_PROXY; only http:\/\/ can be used$/,
    );
  });

  test('takes the user to be taken for', async () => {
    const user = 'token: t, as: jane, as-groups: [dev, ops], as-uid: "7", as-user-extra: {scopes: [a, b], "a/b%": [c]}';
    expect((await read(kubeconfig('', user))).impersonation).toEqual({
      'impersonate-user': 'jane',
      'impersonate-group': ['dev', 'ops'],
      'impersonate-uid': '7',
      'impersonate-extra-scopes': ['a', 'b'],
      'impersonate-extra-a%2Fb%25': ['c'],
    });
    expect((await read(kubeconfig('', 'token: t, as: jürgen'))).impersonation).toEqual({
      'impersonate-user': Buffer.from('jürgen').toString('latin1'),
    });
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

  test.each(['""', '~', ''])('takes a current context of %j for none, and that of the next file', async (current) => {
    const first = await file('first', `kind: Config\ncurrent-context: ${current}`);
    const second = await file('second', kubeconfig('', 'token: t'));
    const environment = { KUBECONFIG: ['', first, '', second].join(delimiter) };
    expect((await findAccess({ environment })).server).toBe('https://10.0.0.1:6443/prefix');
    await expect(findAccess({ kubeconfig: first })).rejects.toThrow(/has no current context$/);
  });

  test.each(['no address', '/path'])('is refused with a server of %s', async (server) => {
    const text = kubeconfig('', 'token: t').replace('"https://10.0.0.1:6443/prefix/"', server);
    await expect(read(text)).rejects.toThrow(/names its server without https:\/\/$/);
  });

  test('takes a user without a word about it for one without a credential', async () => {
    const access = await read(kubeconfig('', '').replace(', user: {}', ''));
    for (const member of ['token', 'basic', 'exec', 'certificate', 'key']) expect(access).not.toHaveProperty(member);
  });

  test('takes a context without a user for one without a credential', async () => {
    const access = await read(kubeconfig('', 'token: t').replace('user: me, ', ''));
    expect(access.server).toBe('https://10.0.0.1:6443/prefix');
    for (const member of ['token', 'impersonation']) expect(access).not.toHaveProperty(member);
  });

  describe('that nobody named', () => {
    const home = process.env['HOME'];
    beforeEach(() => {
      process.env['HOME'] = folder;
    });
    afterEach(() => {
      if (home === undefined) delete process.env['HOME'];
      else process.env['HOME'] = home;
    });

    test.each([undefined, {}, { KUBECONFIG: '' }])(
      'is that of the home folder with the environment %j',
      async (given) => {
        await mkdir(join(folder, '.kube'));
        await file('.kube/config', kubeconfig('', 'token: home'));
        expect(await findAccess({ environment: given })).toMatchObject({ token: { data: 'home' } });
      },
    );

    test('is none without a home folder that has one', async () => {
      await expect(findAccess({})).rejects.toThrow(
        `there is no cluster to connect to: no pod service account, no KUBECONFIG and no ${join(folder, '.kube/config')}`,
      );
    });
  });

  test.each([
    ['missing', undefined, /^cannot read the kubeconfig .*config: ENOENT/],
    ['empty', '', /^the kubeconfig .* has no current context$/],
    ['text', 's3cret', /^cannot read the kubeconfig .*: it holds no settings$/],
    ['not YAML', 'a: s3cret\nb: [', /^cannot read the kubeconfig .*: not YAML at line 2$/],
    ['without an anchor', 'a: *s3cret', /: it has an alias without its anchor at line 1$/],
    ['without a current context', 'kind: Config', /^the kubeconfig .* has no current context$/],
    ['without its cluster', 'current-context: a\ncontexts: [{name: a, context: {cluster: b}}]', /has no cluster "b"$/],
    [
      'with groups to be taken for, and no user',
      kubeconfig('', 'as-groups: [dev]'),
      /^the kubeconfig .* asks for as-uid, as-groups or as-user-extra without as$/,
    ],
    ['with a uid to be taken for, and no user', kubeconfig('', 'as-uid: "7"'), /without as$/],
    ['with an extra to be taken for, and no user', kubeconfig('', 'as-user-extra: {a: []}'), /without as$/],
    ['with a user that is no text', kubeconfig('', 'as: 7'), /: its users\[0\].user.as is a number/],
    ['with a user of two lines', kubeconfig('', 'as: "a\\r\\nb"'), /has an as that no header can carry$/],
    [
      'with groups that are no list',
      kubeconfig('', 'as: a, as-groups: b'),
      /: its users\[0\].user.as-groups is not a list$/,
    ],
    [
      'with a group that is no text',
      kubeconfig('', 'as: a, as-groups: [7]'),
      /: its users\[0\].user.as-groups is a number/,
    ],
    ['with extras that are no map', kubeconfig('', 'as: a, as-user-extra: [b]'), /as-user-extra is not a map$/],
    ['with an extra that is no list', kubeconfig('', 'as: a, as-user-extra: {b: c}'), /as-user-extra is not a list$/],
    [
      'with a proxy that is no address',
      kubeconfig(', proxy-url: "canary"', ''),
      /^the kubeconfig [^ ]* has no valid proxy address in proxy-url$/,
    ],
    [
      'with a proxy of half a password',
      kubeconfig(', proxy-url: "http://u:1%@p"', ''),
      /has no valid proxy address in/,
    ],
    [
      'with a proxy by SOCKS',
      kubeconfig(', proxy-url: "socks5://u:canary@p"', ''),
      /^the kubeconfig [^ ]* names a proxy with socks5:\/\/ in proxy-url; only http:\/\/ can be used$/,
    ],
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
