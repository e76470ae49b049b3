import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLIENT_HELP } from '../../src/cli/login/login-help.ts';
import { passwordOf, startCluster, startService } from '../integration/service/stand.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PACKAGE = '@gatehouse-k8s/cli';
/** Nothing listens at the port "discard", so a request to a registry fails. */
const NO_REGISTRY = 'http://127.0.0.1:9/';

let folder: string;
let version: string;
let asset: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-command-line-'));
  version = (JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
  asset = await pack('out');
  await npm('install', '--global', '--ignore-scripts', asset);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the step of the release; the path that it tells. */
async function pack(out: string): Promise<string> {
  const step = [join(ROOT, 'dev/release/main.ts'), 'cli', '--out', join(folder, out)];
  return (await promisify(execFile)(process.execPath, step, { cwd: ROOT })).stdout.trim();
}

/** npm on a machine that has nothing yet: an empty prefix and an empty cache, no registry, a folder outside the checkout. */
const npm = (...args: readonly string[]) => run('npm', args);

/** The program as a person runs it who has installed it. */
const gatehouse = (args: readonly string[], home = folder) =>
  run(join(folder, 'prefix/bin/gatehouse'), args, { HOME: home });

function run(program: string, args: readonly string[], more = {}): Promise<{ stdout: string; stderr: string }> {
  const env = {
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: folder,
    npm_config_prefix: join(folder, 'prefix'),
    npm_config_cache: join(folder, 'cache'),
    npm_config_registry: NO_REGISTRY,
    npm_config_fetch_retries: '0',
    ...more,
  };
  return promisify(execFile)(program, [...args], { cwd: folder, env });
}

describe('the file for laptops', () => {
  test('is named by its package and version, and its checksum and bill of materials are beside it', async () => {
    const name = `gatehouse-k8s-cli-${version}.tgz`;
    expect(asset).toBe(join(folder, 'out', name));
    expect((await readdir(join(folder, 'out'))).toSorted()).toEqual([name, `${name}.sha256`, 'sbom-cli.cdx.json']);
    const { stdout } = await promisify(execFile)('sha256sum', ['--check', `${asset}.sha256`], { cwd: dirname(asset) });
    expect(stdout).toBe(`${name}: OK\n`);
    const { metadata, components } = JSON.parse(await readFile(join(dirname(asset), 'sbom-cli.cdx.json'), 'utf8'));
    expect(metadata.component.purl).toBe(`pkg:npm/%40gatehouse-k8s/cli@${version}`);
    expect(components.map((one: { name: string }) => one.name)).toEqual(['yaml']);
  });

  test('is the same to the byte when it is made again', async () => {
    const again = await pack('again');
    expect((await readFile(again)).equals(await readFile(asset))).toBe(true);
  });

  test('cannot be published by accident', async () => {
    const publishing = npm('publish', asset, '--//127.0.0.1:9/:_authToken=none');
    await expect(publishing).rejects.toThrow('EPRIVATE');
  });
});

describe('installed with npm', () => {
  test('K-10 it is one package, which came with no other and needed no registry', async () => {
    const { stdout } = await npm('ls', '--global', '--all', '--json');
    expect(JSON.parse(stdout).dependencies).toEqual({ [PACKAGE]: expect.objectContaining({ version }) });
    const manifest = JSON.parse(
      await readFile(join(folder, 'prefix/lib/node_modules', PACKAGE, 'package.json'), 'utf8'),
    );
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).not.toHaveProperty('scripts');
  });

  test('K-10 it tells its version, and the help of its three commands', async () => {
    expect((await gatehouse(['--version'])).stdout).toBe(`gatehouse v${version}\n`);
    expect((await gatehouse(['--help'])).stdout).toMatch(/^Usage: gatehouse login\|logout\|kubeconfig --server URL/);
    for (const action of ['login', 'logout', 'kubeconfig'] as const)
      expect((await gatehouse([action, '--help'])).stdout).toBe(CLIENT_HELP[action]);
  });

  test('K-10 it signs in at a running server, prints a kubeconfig, and signs out', async () => {
    const { gatehouse: server, list } = await startService(await startCluster());
    const { folder: home, write } = temporaryFolder();
    const session = ['--server', server.origin, '--username', 'ada'];
    const password = ['--password-file', write('password', passwordOf('ada'))];
    const { stdout: token } = await gatehouse(['login', ...session, ...password, '--print', 'token'], home);
    expect((await list(token.trim())).status).toBe(200);
    const { stdout: kubeconfig } = await gatehouse(['kubeconfig', ...session], home);
    expect(kubeconfig).toContain(`server: ${server.origin}`);
    expect((await gatehouse(['logout', ...session], home)).stderr).toBe(`signed out at ${server.origin}\n`);
    expect((await list(token.trim())).status).toBe(401);
  });

  test('K-10 a command of the server ends with 2 and says where it is', async () => {
    await expect(gatehouse(['users', 'list'])).rejects.toMatchObject({
      code: 2,
      stderr: 'gatehouse: "users" is not one of login, logout and kubeconfig; see gatehouse --help\n',
    });
  });

  test('npm removes it again', async () => {
    const prefix = join(folder, 'other');
    await npm('install', '--global', '--ignore-scripts', '--prefix', prefix, asset);
    expect(await readdir(join(prefix, 'bin'))).toEqual(['gatehouse']);
    await npm('uninstall', '--global', '--prefix', prefix, PACKAGE);
    const left = await readdir(prefix, { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => !entry.isDirectory()).map(({ name }) => name)).toEqual([]);
  });
});
