import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { CredentialSource } from '../../../../src/kubernetes/access/credentials.ts';
import { findAccess } from '../../../../src/kubernetes/access/find-access.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { selfSigned } from '../../../support/self-signed.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const pair = selfSigned('api');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const CA = `certificate-authority-data: ${base64(pair.cert)}`;
const CERT = `client-certificate-data: ${base64(pair.cert)}`;
const KEY = `client-key-data: ${base64(pair.key)}`;
const EXEC =
  'exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: /bin/sh, args: ["-c", "exit 7"]}';

interface Parts {
  readonly cluster?: string;
  readonly user?: string;
  readonly server?: string;
}

const kubeconfig = ({ cluster = '', user = 'token: t', server = 'https://10.0.0.1:6443' }: Parts): string => `
current-context: here
contexts: [{name: here, context: {cluster: one, user: me}}]
clusters: [{name: one, cluster: {server: "${server}"${cluster === '' ? '' : `, ${cluster}`}}}]
users: [{name: me, user: {${user}}}]
`;

const written = (text: string | Buffer): string => {
  const path = join(temporaryFolder().folder, 'config');
  writeFileSync(path, text);
  return path;
};

/** Reads the file as a start does, and the credential with it. */
async function start(text: string | Buffer, more: Partial<Parameters<typeof findAccess>[0]> = {}) {
  const access = await findAccess({ kubeconfig: written(text), ...more });
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const source = new CredentialSource(access, { clock: new FakeClock(), logger });
  await source.load();
  return { access, source, lines, credential: () => source.current() };
}

const refusal = (text: string | Buffer) =>
  start(text).then(
    () => 'accepted',
    (error: Error) => error.message,
  );

describe('KC-01 the trust of a kubeconfig', () => {
  test.each([
    [
      'no base64',
      'certificate-authority-data: "%%%"',
      /: its clusters\[0\].cluster.certificate-authority-data is not base64$/,
    ],
    [
      'base64 with a character too many',
      `${CA}x`,
      /: its clusters\[0\].cluster.certificate-authority-data is not base64$/,
    ],
    ['what kubectl config view shows', 'certificate-authority-data: DATA+OMITTED', /holds no certificate/],
    ['base64 of something else', `certificate-authority-data: ${base64('hello')}`, /holds no certificate/],
    ['the base64 of a key', `certificate-authority-data: ${base64(pair.key)}`, /holds no certificate/],
    [
      'a certificate whose DER is broken',
      `certificate-authority-data: ${base64(pair.cert.replace('MII', 'AAA'))}`,
      /holds no certificate/,
    ],
    [
      'with data and a file at once',
      `${CA}, certificate-authority: ca.crt`,
      /has both certificate-authority-data and certificate-authority/,
    ],
    [
      'beside insecure-skip-tls-verify',
      `${CA}, insecure-skip-tls-verify: true`,
      /has insecure-skip-tls-verify beside a certificate authority/,
    ],
    ['a file that is not there', 'certificate-authority: missing.crt', /cannot read the cluster credential: ENOENT/],
  ])('is refused with %s, for else public roots would count', async (_what, cluster, sentence) => {
    expect(await refusal(kubeconfig({ cluster }))).toMatch(sentence);
  });

  test('is the certificates of the bundle alone, whatever stands between them', async () => {
    const cluster = `certificate-authority-data: ${base64(`# ours\n${pair.cert}\ntext\n${pair.key}${pair.cert}`)}`;
    const { credential } = await start(kubeconfig({ cluster }));
    expect((await credential()).tls.ca).toBe(pair.cert + pair.cert);
  });
});

describe('KC-02 no credential over plain http', () => {
  test.each([
    ['a token', 'token: t'],
    ['a token file', 'tokenFile: t'],
    ['a password', 'username: u, password: p'],
    ['an exec plugin', EXEC],
  ])('%s is refused', async (_what, user) => {
    expect(await refusal(kubeconfig({ user, server: 'http://api.example.com:8080' }))).toMatch(
      /names its server by http:\/\/, which would carry the credential in clear text; use https:\/\/, or set kubernetes.allowCredentialsOverHttp$/,
    );
  });

  test('a certificate is refused, since only TLS carries one', async () => {
    expect(await refusal(kubeconfig({ user: `${CERT}, ${KEY}`, server: 'http://127.0.0.1:8080' }))).toMatch(
      /names its server by http:\/\/, and a client certificate, which only TLS carries$/,
    );
  });

  test.each(['http://127.0.0.1:8080', 'http://127.9.9.9', 'http://localhost:8080', 'http://[::1]:8080'])(
    'a token goes to %s',
    async (server) => {
      const { credential } = await start(kubeconfig({ server }));
      expect((await credential()).authorization).toBe('Bearer t');
    },
  );

  test.each(['http://localhost.example.com', 'http://127.0.0.1.example.com', 'http://128.0.0.1', 'http://[::2]'])(
    'no token goes to %s',
    async (server) => {
      expect(await refusal(kubeconfig({ server }))).toMatch(/in clear text/);
    },
  );

  test('none goes to loopback by way of a proxy, whose loopback that is', async () => {
    const text = kubeconfig({ server: 'http://127.0.0.1:8080', cluster: 'proxy-url: "http://proxy:3128"' });
    expect(await refusal(text)).toMatch(/in clear text/);
  });

  test('one goes with the setting that allows it', async () => {
    const text = kubeconfig({ server: 'http://api.example.com:8080' });
    const { credential } = await start(text, { allowCredentialsOverHttp: true });
    expect((await credential()).authorization).toBe('Bearer t');
  });

  test('a user without a credential may use http', async () => {
    const { access } = await start(kubeconfig({ server: 'http://api.example.com:8080', user: '' }));
    expect(access.server).toBe('http://api.example.com:8080');
  });
});

describe('KC-03 nobody is anonymous by mistake', () => {
  test.each([
    ['a certificate without its key', CERT, /has a client certificate without its key$/],
    ['a key without its certificate', KEY, /has a client key without its certificate$/],
    ['a certificate that cannot be read', `client-certificate-data: ${base64('x')}, ${KEY}`, /holds no certificate/],
    ['a key that cannot be read', `${CERT}, client-key-data: ${base64('x')}`, /holds no private key/],
    [
      'the key of another',
      `${CERT}, client-key-data: ${base64(selfSigned('b').key)}`,
      /is not the key of the client certificate/,
    ],
    [
      'certificate files that are not there',
      'client-certificate: a, client-key: b',
      /cannot read the cluster credential: ENOENT/,
    ],
    [
      'a certificate twice',
      `${CERT}, client-certificate: a, ${KEY}`,
      /has both client-certificate-data and client-certificate$/,
    ],
    ['a key twice', `${CERT}, client-key: a, ${KEY}`, /has both client-key-data and client-key$/],
    ['a password without a name', 'password: p', /has a password without a username$/],
    ['a token and a password', 'token: t, username: u, password: p', /has both a token and a password$/],
    ['a token file and a password', 'tokenFile: t, username: u, password: p', /has both a token and a password$/],
    [
      'a member that no client reads',
      'token-file: t',
      /has no credential, but "token-file", which no client of Kubernetes reads$/,
    ],
    ['a name in capitals', 'Token: t', /has no credential, but "Token", which no client of Kubernetes reads$/],
    [
      'a token that was left out',
      'token: REDACTED',
      /has the token REDACTED, which kubectl config view shows without --raw$/,
    ],
    ['a token of two lines', 'token: "a\\nb"', /has a token that no header can carry$/],
    ['a token that is a number', 'token: 0123', /: its users\[0\].user.token is a number, not text: put it in quotes$/],
    ['a token that is a truth value', 'token: yes', /: its users\[0\].user.token is not text: put it in quotes$/],
    ['a token that is a list', 'token: [a]', /: its users\[0\].user.token is not text$/],
    ['a token with an exponent', 'token: 1e5', /is a number, not text/],
    ['a token in hexadecimal', 'token: 0x1F', /is a number, not text/],
    ['a password of digits', 'username: u, password: 1_000', /: its users\[0\].user.password is a number/],
    ['an auth-provider', 'auth-provider: {name: oidc}', /asks for an auth-provider; use an exec plugin/],
  ])('%s is refused', async (_what, user, sentence) => {
    expect(await refusal(kubeconfig({ user }))).toMatch(sentence);
  });

  test('a user that is not there is refused', async () => {
    const text = kubeconfig({}).replace('user: me}', 'user: nobody}');
    expect(await refusal(text)).toMatch(/^the kubeconfig .* has no user "nobody"$/);
  });

  test.each(['""', '~', 'null'])('a token %s is none', async (token) => {
    const { credential } = await start(kubeconfig({ user: `token: ${token}` }));
    expect((await credential()).authorization).toBeUndefined();
  });

  test('a token goes on until its file has one', async () => {
    const { credential } = await start(kubeconfig({ user: 'token: t, tokenFile: missing' }));
    expect((await credential()).authorization).toBe('Bearer t');
  });
});

describe('KC-05 what stands beside an exec plugin', () => {
  test.each([
    ['a token', 'token: t', 'Bearer t'],
    ['a password', 'username: u, password: p', `Basic ${base64('u:p')}`],
  ])('%s wins, and the plugin is not run', async (_what, user, header) => {
    const { access, credential, lines } = await start(kubeconfig({ user: `${user}, ${EXEC}` }));
    expect((await credential()).authorization).toBe(header);
    expect([access.exec, lines]).toEqual([undefined, []]);
  });

  test('a certificate wins, and the plugin is not run', async () => {
    const { access, credential } = await start(kubeconfig({ user: `${CERT}, ${KEY}, ${EXEC}` }));
    expect((await credential()).tls).toMatchObject({ cert: pair.cert, key: pair.key });
    expect(access.exec).toBeUndefined();
  });

  test.each([
    [
      'no command',
      'exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}',
      /has an exec plugin without a command$/,
    ],
    ['no version', 'exec: {command: a}', /has an exec plugin without an apiVersion$/],
    [
      'an old version',
      'exec: {command: a, apiVersion: client.authentication.k8s.io/v1alpha1}',
      /has an exec plugin of the apiVersion "client.authentication.k8s.io\/v1alpha1"; v1 and v1beta1 are known$/,
    ],
    [
      'v1 without interactiveMode',
      'exec: {command: a, apiVersion: client.authentication.k8s.io/v1}',
      /has an exec plugin without an interactiveMode$/,
    ],
    [
      'an unknown mode',
      'exec: {command: a, apiVersion: client.authentication.k8s.io/v1, interactiveMode: never}',
      /has an exec plugin with an unknown interactiveMode$/,
    ],
    [
      'a mode that needs a terminal',
      'exec: {command: a, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always}',
      /has an exec plugin that needs a terminal \(interactiveMode: Always\)$/,
    ],
    [
      'a variable without a name',
      'exec: {command: a, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [{value: x}]}',
      /has an exec plugin with a variable without a name$/,
    ],
  ])('an exec plugin with %s is refused', async (_what, user, sentence) => {
    expect(await refusal(kubeconfig({ user }))).toMatch(sentence);
  });

  test('v1beta1 needs no interactiveMode', async () => {
    const { access } = await start(
      kubeconfig({ user: 'exec: {command: a, apiVersion: client.authentication.k8s.io/v1beta1}' }),
    );
    expect(access.exec).toMatchObject({ command: 'a' });
  });

  test.each([
    ['./bin/token', 'bin/token'],
    ['bin/token', 'bin/token'],
  ])('a command %s is beside the file', async (command, found) => {
    const path = written(kubeconfig({ user: EXEC.replace('/bin/sh', command) }));
    const access = await findAccess({ kubeconfig: path });
    expect(access.exec?.command).toBe(join(path, '..', found));
  });

  test.each(['token', '/usr/bin/token'])('a command %s stays as it is', async (command) => {
    const { access } = await start(kubeconfig({ user: EXEC.replace('/bin/sh', command) }));
    expect(access.exec?.command).toBe(command);
  });
});

describe('KC-01 the server of a kubeconfig', () => {
  test.each([
    ['localhost:8080', /names its server without https:\/\/$/],
    ['10.0.0.1:6443', /names its server without https:\/\/$/],
    ['api.example.com', /names its server without https:\/\/$/],
    ['ftp://api.example.com', /names its server by ftp:\/\/; only https:\/\/ can be used$/],
    ['https://user:canary@api', /has a name or a password in its server address; write them into its user$/],
    ['HTTPS://api', /has a server address that cannot be used: its scheme is not in small letters; write https:\/\/$/],
    ['https://api//', /has a server address that cannot be used: its path has "\/\/"; write one slash$/],
    ['https://api/k8s//c', /has a server address that cannot be used: its path has "\/\/"; write one slash$/],
    ['https://127.1:6443', /has a server address that cannot be used$/],
    ['https://api:99999', /has a server address that cannot be used$/],
    ['https://api/a/../b', /has a server address that cannot be used$/],
    ['https://api/a%2Fb', /has a server address that cannot be used$/],
    ['https://a b', /has a server address that cannot be used$/],
    ['https://', /has a server address that cannot be used$/],
    ['', /has no server in its cluster "one"$/],
  ])('%s is refused', async (server, sentence) => {
    expect(await refusal(kubeconfig({ server }))).toMatch(sentence);
  });

  test.each([
    ['https://API.example.com:6443/', 'https://api.example.com:6443'],
    ['https://api.example.com/k8s/clusters/c-1/?a=b', 'https://api.example.com/k8s/clusters/c-1'],
    ['https://[FD00::1]:6443', 'https://[fd00::1]:6443'],
    ['https://api_1.example.com.', 'https://api_1.example.com.'],
  ])('%s is %s', async (server, expected) => {
    expect((await start(kubeconfig({ server }))).access.server).toBe(expected);
  });
});

describe('KC-04 nothing of a token is printed', () => {
  test.each([
    ['an unknown tag', 'token: !Sub canary'],
    ['a tag of its own', 'token: !!binary canary'],
    ['a broken line', 'token: "canary'],
    ['an alias without its anchor', 'token: *canary'],
    ['a number', 'token: 0x00CA'],
    ['a list', 'token: [canary]'],
    ['a name', 'canary: {token: canary}, token: [canary]'],
  ])('of a file with %s', async (_what, user) => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const printed = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    expect(await refusal(kubeconfig({ user }))).not.toMatch(/canary|00CA|^accepted$/);
    expect([warned.mock.calls, printed.mock.calls]).toEqual([[], []]);
  });

  test('of a file that names a user twice', async () => {
    const text = kubeconfig({ user: 'token: canary' });
    const twice = text.replace('users: [', 'users: [{name: me, user: {token: canary}}, ');
    expect(await refusal(twice)).toMatch(/^cannot read the kubeconfig .*: its users have a name twice$/);
  });
});

describe('KC-01 the text of a kubeconfig', () => {
  const anchored = (users: string): string => kubeconfig({}).replace(/users:.*/, users);

  test('a merge key brings what it names, and what comes later wins', async () => {
    const { credential } = await start(anchored('x: &x {token: merged}\nusers: [{name: me, user: {<<: *x}}]'));
    expect((await credential()).authorization).toBe('Bearer merged');
    const after = await start(anchored('x: &x {token: merged}\nusers: [{name: me, user: {<<: *x, token: own}}]'));
    expect((await after.credential()).authorization).toBe('Bearer own');
  });

  test('several merged maps come in turn, the first one of the list last', async () => {
    const { credential } = await start(
      anchored('x: [&a {token: a}, &b {token: b, as: jane}]\nusers: [{name: me, user: {<<: [*a, *b]}}]'),
    );
    expect((await credential()).authorization).toBe('Bearer a');
  });

  test.each([
    ['a member twice', kubeconfig({ user: 'token: a, token: b' }), /names a member twice at line 5$/],
    ['several documents', `${kubeconfig({})}---\nkind: Config\n`, /holds more than one document$/],
    ['another kind', `kind: Pod\n${kubeconfig({})}`, /is of another kind than Config$/],
    ['another version', `apiVersion: v2\n${kubeconfig({})}`, /is of another version than v1$/],
    ['a list of users that is none', anchored('users: {name: me}'), /: its users is not a list$/],
    ['a user that is text', anchored('users: [{name: me, user: token}]'), /: its users\[0\].user is not a map$/],
    [
      'broken base64 in an entry that nobody uses',
      anchored('users: [{name: me, user: {token: t}}, {name: b, user: {client-key-data: "%"}}]'),
      /: its users\[1\].user.client-key-data is not base64/,
    ],
    ['a merge of text', anchored('users: [{name: me, user: {<<: token}}]'), /has a merge key without a map at line 5$/],
    ['an anchor inside of itself', anchored('users: &u [{name: me, user: *u}]'), /not YAML$|inside of itself/],
  ])('%s is refused', async (_what, text, sentence) => {
    expect(await refusal(text)).toMatch(sentence);
  });

  test('bytes that are not UTF-8 are refused', async () => {
    const text = Buffer.concat([Buffer.from(kubeconfig({})), Buffer.from('# \xff', 'latin1')]);
    expect(await refusal(text)).toMatch(/is not UTF-8$/);
  });

  test.each([
    ['a byte order mark', `\uFEFF${kubeconfig({})}`],
    ['carriage returns', kubeconfig({}).replaceAll('\n', '\r\n')],
    ['a directive', `%YAML 1.1\n---${kubeconfig({})}`],
    ['the tag of text', kubeconfig({ user: 'token: !!str t' })],
    [
      'a broken entry that nobody uses',
      kubeconfig({}).replace('clusters: [', 'clusters: [{name: old}, {name: new, cluster: {}}, '),
    ],
    ['an entry without a name that nobody uses', kubeconfig({}).replace('users: [', 'users: [{user: {token: x}}, ')],
    ['members that nobody knows', `preferences: {colors: true}\nx: 1\n${kubeconfig({})}`],
  ])('%s is read', async (_what, text) => {
    const { credential } = await start(text);
    expect((await credential()).authorization).toBe('Bearer t');
  });
});

describe('KC-01 the files of KUBECONFIG', () => {
  const entries = 'current-context: ""\nusers: [{name: me, user: {token: first}}]';

  test('one that is missing or empty is passed over', async () => {
    const files = ['/nowhere/config', written(''), written('# nothing\n'), written(entries), written(kubeconfig({}))];
    const access = await findAccess({ environment: { KUBECONFIG: files.join(':') } });
    expect(access).toMatchObject({ server: 'https://10.0.0.1:6443', token: { data: 'first' } });
    expect(access.warnings).toEqual(['KUBECONFIG names /nowhere/config, which is not there']);
  });

  test('one that cannot be read is refused', async () => {
    const { folder } = temporaryFolder();
    const files = [folder, written(kubeconfig({}))];
    await expect(findAccess({ environment: { KUBECONFIG: files.join(':') } })).rejects.toThrow(/EISDIR/);
  });

  test('all missing are refused', async () => {
    await expect(findAccess({ environment: { KUBECONFIG: '/nowhere/a:/nowhere/b' } })).rejects.toThrow(
      /^KUBECONFIG names no file that is there: \/nowhere\/a, \/nowhere\/b$/,
    );
  });

  test('one that is named twice is read once', async () => {
    const file = written(kubeconfig({}));
    expect(await findAccess({ environment: { KUBECONFIG: `${file}:${file}` } })).toMatchObject({
      token: { data: 't' },
    });
  });
});

describe('KC-01 a word about what is not followed', () => {
  test.each([
    [
      'a member of the cluster that nobody knows',
      { cluster: 'api-version: v1' },
      'its cluster has "api-version", which is not read',
    ],
    [
      'a member of the user that nobody knows',
      { user: 'token: t, token-file: x' },
      'its user has "token-file", which is not read',
    ],
    [
      'an exec plugin that is not run',
      { user: `token: t, ${EXEC}` },
      'its exec plugin is not run, since its user has another credential',
    ],
  ])('%s is a warning', async (_what, parts, warning) => {
    const { access } = await start(kubeconfig(parts));
    expect(access.warnings).toEqual([expect.stringMatching(new RegExp(`^the kubeconfig [^ ]*: ${warning}$`))]);
  });

  test('a namespace that is none is refused', async () => {
    const text = kubeconfig({}).replace('user: me}', 'user: me, namespace: a/b}');
    expect(await refusal(text)).toMatch(/has a namespace that is no name of one$/);
  });
});
