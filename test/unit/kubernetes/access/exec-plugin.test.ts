import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { kill } from 'node:process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ExecCommand } from '../../../../src/kubernetes/access/cluster-access.ts';
import { ExecPlugin } from '../../../../src/kubernetes/access/exec-plugin.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { selfSigned } from '../../../support/self-signed.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exec-plugin-'));
});
afterEach(() => rm(folder, { recursive: true }));

const VERSION = 'client.authentication.k8s.io/v1';
const pair = selfSigned('me');

function create(script: string, change: Partial<ExecCommand> = {}, environment: Record<string, string> = {}) {
  const clock = new FakeClock();
  const args = ['-c', script, 'plugin', folder];
  const exec = { apiVersion: VERSION, command: '/bin/sh', args, env: [], ...change };
  return { clock, plugin: new ExecPlugin(exec, { clock, environment }) };
}

function isThere(pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

const answer = (members: object): string => `printf '%s' '${JSON.stringify({ apiVersion: VERSION, ...members })}'`;
const credential = (status: object): string => answer({ kind: 'ExecCredential', status });

/** What the plugin was told: its variables, or those of them that it wrote down. */
const told = (name = 'told'): Promise<string> => readFile(join(folder, name), 'utf8');
const TELL = 'printf "%s" "$KUBERNETES_EXEC_INFO" > "$1/told"; ';

describe('exec plugin', () => {
  test('gives a token, remembered until it is forgotten, and leaves no timer', async () => {
    const { clock, plugin } = create(`echo x >> "$1/asked"; ${credential({ token: 'one' })}`);
    expect(await plugin.ask()).toEqual({ authorization: 'Bearer one' });
    expect(await plugin.ask()).toEqual({ authorization: 'Bearer one' });
    expect(await readFile(join(folder, 'asked'), 'utf8')).toBe('x\n');
    plugin.forget();
    await plugin.ask();
    expect(await readFile(join(folder, 'asked'), 'utf8')).toBe('x\nx\n');
    expect(clock.pendingTimers).toBe(0);
  });

  test('gives a certificate and its key', async () => {
    const status = { clientCertificateData: pair.cert, clientKeyData: pair.key };
    const { plugin } = create(`cat "$1/answer"`);
    await writeFile(join(folder, 'answer'), JSON.stringify({ kind: 'ExecCredential', apiVersion: VERSION, status }));
    expect(await plugin.ask()).toEqual({ pair });
  });

  test('has nobody at its standard input', async () => {
    const { plugin } = create(`read answer || ${credential({ token: 'unasked' })}`);
    expect(await plugin.ask()).toEqual({ authorization: 'Bearer unasked' });
  });

  test('is killed after 30 s, also when what it started keeps its output open', async () => {
    const { clock, plugin } = create('sleep 600 & echo $$ $! > "$1/begun"; mv "$1/begun" "$1/pids"; wait');
    const answer = plugin.ask();
    const rejected = expect(answer).rejects.toThrow(/^\/bin\/sh gave no credential within 30 s$/);
    const written = () => readFile(join(folder, 'pids'), 'utf8').catch(() => '');
    await expect.poll(written).not.toBe('');
    const pids = await written();
    const [shell, sleeping] = pids.split(' ').map(Number) as [number, number];
    try {
      await clock.advance(29_999);
      expect(isThere(shell)).toBe(true);
      await clock.advance(1);
      await rejected;
      // It is told to end at that moment; when it has is up to the kernel.
      await expect.poll(() => isThere(shell)).toBe(false);
    } finally {
      kill(sleeping);
    }
    expect(clock.pendingTimers).toBe(0);
  });

  test('is run again when its answer has expired, and not before', async () => {
    const clock = new FakeClock();
    const end = new Date(clock.now() + 60_000).toISOString();
    const script = `echo x >> "$1/asked"; ${credential({ token: 'one', expirationTimestamp: end })}`;
    const exec = { apiVersion: VERSION, command: '/bin/sh', args: ['-c', script, 'plugin', folder], env: [] };
    const plugin = new ExecPlugin(exec, { clock, environment: {} });
    await plugin.ask();
    await clock.advance(60_000);
    await plugin.ask();
    expect(await told('asked')).toBe('x\n');
    await clock.advance(1);
    await plugin.ask();
    expect(await told('asked')).toBe('x\nx\n');
  });
});

describe('KC-05 what an exec plugin is told', () => {
  test('is the version, and that nobody sits at a terminal', async () => {
    const { plugin } = create(TELL + credential({ token: 't' }));
    await plugin.ask('ignored');
    expect(JSON.parse(await told())).toEqual({
      kind: 'ExecCredential',
      apiVersion: VERSION,
      spec: { interactive: false },
    });
  });

  test('is the cluster too, where the kubeconfig asks for that', async () => {
    const cluster = { server: 'https://api:6443', 'tls-server-name': 'api', config: { audience: 'a' } };
    const { plugin } = create(TELL + credential({ token: 't' }), { cluster });
    await plugin.ask(pair.cert);
    const data = Buffer.from(pair.cert).toString('base64');
    expect(JSON.parse(await told())).toMatchObject({
      spec: { cluster: { ...cluster, 'certificate-authority-data': data }, interactive: false },
    });
  });

  test('is our environment and its own variables, which win, but not over KUBERNETES_EXEC_INFO', async () => {
    const env = [
      { name: 'A', value: 'own' },
      { name: 'KUBERNETES_EXEC_INFO', value: 'other' },
    ];
    const script = `printf '%s' "$A $B" > "$1/variables"; ${TELL}${credential({ token: 't' })}`;
    await create(script, { env }, { A: 'ours', B: 'ours' }).plugin.ask();
    expect(await told('variables')).toBe('own ours');
    expect(await told()).toContain(VERSION);
  });

  test('a bare name is looked up in our PATH, not in that of its variables', async () => {
    const program = join(folder, 'our-token');
    await writeFile(program, `#!/bin/sh\n${credential({ token: 'found' })}\n`);
    const env = [{ name: 'PATH', value: '/nowhere' }];
    const { plugin } = create('', { command: 'our-token', env }, { PATH: `relative:${folder}` });
    await expect(plugin.ask()).rejects.toThrow(/^the exec plugin our-token is not there$/);
    await chmod(program, 0o700);
    expect(await plugin.ask()).toEqual({ authorization: 'Bearer found' });
  });

  test('a bare name is not looked up in a folder of PATH that depends on where we were started', async () => {
    await writeFile(join(folder, 'our-token'), `#!/bin/sh\n${credential({ token: 'found' })}\n`, { mode: 0o700 });
    const { plugin } = create('', { command: 'our-token' }, { PATH: relative(process.cwd(), folder) });
    await expect(plugin.ask()).rejects.toThrow(/^the exec plugin our-token is not there$/);
  });
});

describe('KC-03 an exec plugin without a credential', () => {
  test.each([
    ['prints a bare token', "printf 'canary.to.ken'", /^the exec plugin \/bin\/sh wrote no ExecCredential of client/],
    ['prints nothing', 'true', /wrote no ExecCredential of/],
    ['prints a token as JSON', `printf '"canary"'`, /wrote no ExecCredential of/],
    ['prints another kind', answer({ kind: 'Secret', status: { token: 'canary' } }), /wrote no ExecCredential of/],
    [
      'prints another version',
      answer({ kind: 'ExecCredential', apiVersion: `${VERSION}beta1`, status: { token: 'canary' } }),
      /wrote no ExecCredential of client.authentication.k8s.io\/v1$/,
    ],
    ['prints no status', answer({ kind: 'ExecCredential' }), /wrote an ExecCredential without a status$/],
    ['prints an empty status', credential({}), /wrote neither a token nor a certificate$/],
    ['prints an empty token', credential({ token: '' }), /wrote neither a token nor a certificate$/],
    ['prints a number', credential({ token: 7 }), /wrote a token that is not text$/],
    ['prints a token of two lines', credential({ token: 'canary\n2' }), /wrote a token that no header can carry$/],
    ['prints a certificate alone', credential({ clientCertificateData: 'canary' }), /certificate without its key, or/],
    [
      'prints a key alone',
      credential({ clientKeyData: 'canary', token: 't' }),
      /certificate without its key, or a key/,
    ],
    [
      'prints what is no certificate',
      credential({ clientCertificateData: 'canary', clientKeyData: 'canary' }),
      /^the client certificate holds no certificate that can be read$/,
    ],
    [
      'prints a time that is none',
      credential({ token: 'canary', expirationTimestamp: 'canary' }),
      /wrote an expirationTimestamp that is no time of RFC 3339$/,
    ],
    ['fails', 'echo canary >&2; echo canary; exit 3', /ended with exit code 3; run it by hand to see why$/],
    ['is killed', 'kill -9 $$', /ended with SIGKILL; run it by hand to see why$/],
    ['prints without an end', 'while :; do printf "%01000d" 0; done', /wrote more than 1 MiB$/],
  ])('that %s fails in one sentence, which quotes nothing', async (_what, script, sentence) => {
    const { clock, plugin } = create(script);
    const error = await plugin.ask().catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(sentence);
    expect(`${(error as Error).stack} ${(error as Error).cause}`).not.toContain('canary');
    expect(clock.pendingTimers).toBe(0);
  });

  test.each([
    ['is missing', { command: '/nowhere/token' }, /^the exec plugin \/nowhere\/token is not there$/],
    ['is a folder', { command: '/' }, /^the exec plugin \/ is not there$/],
    [
      'is missing, with a hint',
      { command: 'no-such', installHint: 'brew install it' },
      /no-such is not there: brew install it$/,
    ],
    [
      'has a NUL in an argument',
      { args: ['canary\0'] },
      /cannot be started: an argument or a variable of it holds a NUL$/,
    ],
    ['has a NUL in a variable', { env: [{ name: 'A', value: 'canary\0' }] }, /holds a NUL$/],
  ])('that %s fails in one sentence', async (_what, change, sentence) => {
    const { plugin } = create('true', change, { PATH: '/bin' });
    await expect(plugin.ask()).rejects.toThrow(sentence);
  });
});
