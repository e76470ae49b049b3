import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { COMPILE_CACHE } from '../support/compile-cache.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-main-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program to its end, without anything of this process's environment. */
function run(args: readonly string[], { stdin = Buffer.alloc(0), readsOutput = true } = {}): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { HOME: '/nowhere', ...COMPILE_CACHE },
    stdio: 'pipe',
  });
  const output = { stdout: '', stderr: '' };
  if (readsOutput) child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  else child.stdout.destroy();
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  child.stdin.on('error', () => {}).end(stdin);
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...output })));
}

describe('--check-config', () => {
  test('names what is wrong in every file that the configuration names', async () => {
    const config = write(
      'config.json',
      JSON.stringify({
        kubernetes: { kubeconfig: write('kubeconfig', 'a: [') },
        users: { file: write('users.yaml', 'users: [{name: Ada}]') },
      }),
    );
    expect(await run(['--check-config', '--config', config])).toEqual({
      code: 2,
      stdout: '',
      stderr: [
        `gatehouse: ${config} cannot be used:`,
        `  users.file: ${folder}/users.yaml: users[0].name: is not a lower-case DNS-1123 name`,
        `  users.file: ${folder}/users.yaml: users[0].passwordHash: is required`,
        `  kubernetes.kubeconfig: cannot read the kubeconfig ${folder}/kubeconfig: not YAML at line 1`,
        '',
      ].join('\n'),
    });
  });

  test('names the files that are not there', async () => {
    const config = write(
      'config.json',
      '{"users": {"file": "/nowhere/u"}, "kubernetes": {"kubeconfig": "/nowhere/k"}}',
    );
    const { code, stderr } = await run(['--check-config', '--config', config]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^ {2}users\.file: cannot read the file: ENOENT/m);
    expect(stderr).toMatch(/^ {2}kubernetes\.kubeconfig: cannot read the kubeconfig \/nowhere\/k: ENOENT/m);
  });
});

describe('the end of the process', () => {
  test('comes with 2, a fatal log line and a plain one when no cluster is configured', async () => {
    const { code, stdout, stderr } = await run([]);
    const sentence =
      'there is no cluster to connect to: no pod service account, no KUBECONFIG and no /nowhere/.kube/config';
    expect([code, stderr]).toEqual([2, `gatehouse: ${sentence}\n`]);
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ level: 'fatal', msg: sentence });
  });

  test('comes with 1 when a port is taken, whatever is still open', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const cluster = `{name: c, cluster: {server: "http://127.0.0.1:${port}"}}`;
    const context = '{name: x, context: {cluster: c}}';
    const kubeconfig = write('kubeconfig', `{current-context: x, clusters: [${cluster}], contexts: [${context}]}`);
    const server = { address: '127.0.0.1', port, metricsPort: 0 };
    const config = write('config.json', JSON.stringify({ server, kubernetes: { kubeconfig } }));
    const { code, stdout, stderr } = await run(['--config', config]);
    other.close();
    expect([code, stderr.split('\n').length]).toEqual([1, 2]);
    expect(stdout).toContain('"level":"fatal"');
  });

  test.each([
    [['--config-schema'], 0],
    [['--help'], 0],
    [[], 2],
  ])('of %j does not change because nobody reads its output', async (args, code) => {
    expect((await run(args, { readsOutput: false })).code).toBe(code);
  });
});

describe('hash-password', () => {
  test.each([
    ['a NUL', Buffer.from('a\0b\n'), /^gatehouse: a password holds no NUL.*\n$/],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0x0a]), /^gatehouse: a password is UTF-8 text.*\n$/],
  ])('refuses %s with 2 and one line', async (_, stdin, line) => {
    const { code, stdout, stderr } = await run(['hash-password'], { stdin });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(line);
  });
});
