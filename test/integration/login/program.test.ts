import { chmodSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { get, type RequestOptions } from 'node:https';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CLIENT_HELP } from '../../../src/cli/login/login-help.ts';
import { usernameIn } from '../../../src/cli/login/session.ts';
import { sessionPlace } from '../../../src/cli/login/session-place.ts';
import { atEnd } from '../../support/at-end.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startTlsFront } from '../../support/tls-front.ts';
import { runProgram } from '../service/program.ts';
import { eventually, NODES, passwordOf, startCluster, startService } from '../service/stand.ts';
import { execInfo, requestsTo } from './signing-in.ts';

async function start() {
  const service = await startService(await startCluster());
  const { folder: home, write } = temporaryFolder();
  const state = join(home, '.local', 'state', 'gatehouse');
  const server = ['--server', service.gatehouse.origin, '--username', 'ada'];
  const passwordFile = write('password', passwordOf('ada'));
  const signIn = () => run(['login', ...server, '--password-file', passwordFile]);
  const run = (args: readonly string[], env = {}, stdin = '') =>
    runProgram(args, { env: { HOME: home, ...env }, stdin });
  return { service, home, state, server, passwordFile, run, signIn, write };
}

/** Of the node list, asked as the client library is told by its kubeconfig. */
async function statusOf(config: KubeConfig, port: number): Promise<number | undefined> {
  const options: RequestOptions = { hostname: '127.0.0.1', port, path: NODES };
  await config.applyToHTTPSOptions(options);
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  get(options, (answer) => resolve(answer.resume().statusCode)).on('error', reject);
  return promise;
}

/** For a shell, whatever is in it. */
const quoted = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`;

const PLUG_IN = { KUBERNETES_EXEC_INFO: execInfo() };

describe('the program', () => {
  test('K-01 as a plug-in writes the credential to standard output and nothing to standard error', async () => {
    const { run, signIn, server } = await start();
    const first = await signIn();
    expect([first.code, first.stdout]).toEqual([0, '']);
    expect(first.stderr).toMatch(/^signed in at .* as ada; .*\n$/);
    const { code, stdout, stderr } = await run(['login', ...server], PLUG_IN);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'ExecCredential', status: { token: expect.any(String) } });
  });

  test('K-05 without terminal and password file ends with 1 and what to run', async () => {
    const { run, server, service } = await start();
    const { code, stdout, stderr } = await run(['login', ...server], PLUG_IN);
    const { origin } = service.gatehouse;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      `gatehouse: nobody is signed in at ${origin}, and there is no terminal to ask for the password: run gatehouse login --server ${origin} --username ada\n`,
    );
  });

  test('K-03, K-04 keeps the session for its user alone, and refuses it once others can read it', async () => {
    const { run, signIn, state, server } = await start();
    await signIn();
    const [name = '', ...more] = readdirSync(state);
    const file = join(state, name);
    expect([more, statSync(state).mode & 0o777, statSync(file).mode & 0o777]).toEqual([[], 0o700, 0o600]);
    chmodSync(file, 0o644);
    const { code, stdout, stderr } = await run(['login', ...server], PLUG_IN);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      `gatehouse: the session file ${file} has mode 0644, so others may know its tokens: remove it and sign in again\n`,
    );
  });

  test('reads a password from standard input, and is told nothing of it', async () => {
    const { run, server } = await start();
    const wrong = await run(['login', ...server, '--password-file', '-'], {}, 'canary-wrong');
    expect([wrong.code, wrong.stdout]).toEqual([1, '']);
    expect(wrong.stderr).toMatch(/^gatehouse: wrong user name or password for ada at \S+\n$/);
    const right = await run(['login', ...server, '--password-file', '-', '--print', 'token'], {}, passwordOf('ada'));
    expect(right).toEqual({ code: 0, stdout: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+\n$/), stderr: '' });
  });

  test('K-02 ten times at once shares one session, at the first sign-in and at a refresh', async () => {
    const { service, run, server, passwordFile, state } = await start();
    const tenTokens = async () => {
      const runs = Array.from({ length: 10 }, () =>
        run(['login', ...server, '--password-file', passwordFile], PLUG_IN),
      );
      const ends = await Promise.all(runs);
      // A busy machine may let them wait for so long that they say so.
      const said = ends.map(({ stderr }) => stderr.replace(/^waiting for another sign-in: .*\n$/, ''));
      expect([said, ends.map(({ code }) => code)]).toEqual([ends.map(() => ''), ends.map(() => 0)]);
      return new Set(ends.map(({ stdout }) => JSON.parse(stdout).status.token as string));
    };
    const first = await tenTokens();
    expect(first.size).toBe(1);
    const file = join(state, readdirSync(state)[0] ?? '');
    const session = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...session, goodUntil: 0 }));
    const second = await tenTokens();
    expect([...second]).not.toEqual([...first]);
    expect(second.size).toBe(1);
    await eventually(
      () => requestsTo(service, '/oauth/token'),
      (count) => count === 2,
    );
    expect(readdirSync(state)).toHaveLength(1);
    for (const token of [...first, ...second]) expect((await service.list(token)).status).toBe(200);
  });

  test('K-08 prints a kubeconfig with which a client library signs in and reads', async () => {
    const { run, service, home, passwordFile, write } = await start();
    const certificate = selfSigned('localhost');
    const front = await startTlsFront(service.gatehouse.port, certificate);
    atEnd(front.stop);
    const main = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts');
    const [ownHome, node, program] = [home, process.execPath, main].map(quoted);
    const command = write('gatehouse', `#!/bin/sh\nHOME=${ownHome} exec ${node} ${program} "$@"\n`);
    chmodSync(command, 0o700);
    const login = ['--username', 'ada', '--password-file', passwordFile, '--certificate-authority'];
    const { code, stdout, stderr } = await run([
      ...['kubeconfig', '--server', front.url, '--command', command, ...login],
      write('ca.pem', certificate.cert),
    ]);
    expect([code, stderr]).toEqual([0, '']);
    const config = new KubeConfig();
    config.loadFromString(stdout);
    expect(await statusOf(config, front.port)).toBe(200);
  });

  test('K-13 prints the same kubeconfig for everybody, with nothing of anybody, and each person who uses it is themselves', async () => {
    const { service } = await start();
    const { origin } = service.gatehouse;
    const people = [];
    for (const name of ['ada', 'joe'] as const) {
      const { folder: HOME, write } = temporaryFolder();
      const as = (args: readonly string[], env = {}) => runProgram(args, { env: { HOME, ...env } });
      const password = write('password', passwordOf(name));
      // Signs in to the session that a command without a name uses.
      const session = await as(['login', '--server', origin, '--username', name, '--password-file', password]);
      expect(session.code).toBe(0);
      const state = join(HOME, '.local/state/gatehouse');
      const nameless = sessionPlace({ server: origin, clientId: 'gatehouse' }, { environment: {}, homeFolder: HOME });
      renameSync(join(state, readdirSync(state)[0] ?? ''), nameless.file);
      const { stdout: kubeconfig } = await as(['kubeconfig', '--server', origin]);
      people.push({ name, as, kubeconfig, saved: readFileSync(nameless.file, 'utf8'), HOME });
    }
    expect(new Set(people.map(({ kubeconfig }) => kubeconfig)).size).toBe(1);
    for (const { name, as, kubeconfig, saved, HOME } of people) {
      const { accessToken, refreshToken } = JSON.parse(saved);
      for (const own of [accessToken, refreshToken, HOME, `${name}@`, `=${name}`, ` ${name}`])
        expect(kubeconfig).not.toContain(own);
      const [{ user }] = parse(kubeconfig).users;
      expect(Object.keys(user)).toEqual(['exec']);
      const { stdout } = await as(user.exec.args, PLUG_IN);
      expect(usernameIn(JSON.parse(stdout).status.token)).toBe(name);
    }
  });

  test.each(['login', 'logout', 'kubeconfig'] as const)('%s --help prints its usage', async (action) => {
    expect(await runProgram([action, '--help'])).toEqual({ code: 0, stdout: CLIENT_HELP[action], stderr: '' });
  });

  test('wrong arguments end with 2, one line and the help to read', async () => {
    const { code, stderr } = await runProgram(['login', '--password', 'x']);
    expect([code, stderr]).toEqual([2, 'gatehouse: unknown option --password; see gatehouse login --help\n']);
  });

  test('warns when clients will not find it', async () => {
    const args = ['kubeconfig', '--server', 'https://gatehouse.example.com'];
    const { code, stderr } = await runProgram(args, { env: { PATH: '/nowhere' } });
    expect(code).toBe(0);
    expect(stderr).toBe(
      'warning: there is no gatehouse in PATH, where clients look for it; --command names another program\n',
    );
  });
});
