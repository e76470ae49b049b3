import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PLATFORMS, type Platform } from '../../dev/release/executables.ts';
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
let executables: readonly string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-command-line-'));
  version = (JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
  await mkdir(join(folder, 'bin'));
  await writeProgram('rcodesign', `echo "$@" >> '${folder}/rcodesign.log'`);
  [asset = '', ...executables] = await pack('out', ...PLATFORMS);
  await npm('install', '--global', '--ignore-scripts', asset);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the step of the release, with a stand-in for the program that signs for macOS; the paths that it tells. */
async function pack(out: string, ...platforms: readonly Platform[]): Promise<string[]> {
  const named = platforms.flatMap((platform) => ['--platform', platform]);
  const step = [join(ROOT, 'dev/release/main.ts'), 'cli', ...named, '--out', join(folder, out)];
  const env = { ...process.env, PATH: [join(folder, 'bin'), process.env['PATH']].join(delimiter) };
  const { stdout } = await promisify(execFile)(process.execPath, step, { cwd: ROOT, env });
  return stdout.trim().split('\n');
}

/** Writes a shell script of this name into a folder that comes first in PATH. */
async function writeProgram(name: string, script: string): Promise<void> {
  const file = join(folder, 'bin', name);
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
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
    const files = await readdir(join(folder, 'out'));
    expect(files).toEqual(expect.arrayContaining([name, `${name}.sha256`, 'sbom-cli.cdx.json']));
    const { stdout } = await promisify(execFile)('sha256sum', ['--check', `${asset}.sha256`], { cwd: dirname(asset) });
    expect(stdout).toBe(`${name}: OK\n`);
    const { metadata, components } = JSON.parse(await readFile(join(dirname(asset), 'sbom-cli.cdx.json'), 'utf8'));
    expect(metadata.component.purl).toBe(`pkg:npm/%40gatehouse-k8s/cli@${version}`);
    expect(components).toEqual([]);
  });

  test('K-11 is the same to the byte when it is made again, and so is the one with Node inside', async () => {
    const again = await pack('again', 'linux-x64');
    expect(again).toHaveLength(2);
    for (const [index, file] of [asset, executables[0] ?? ''].entries())
      expect((await readFile(again[index] ?? '')).equals(await readFile(file))).toBe(true);
  });

  test('is not made without what signs for macOS, nor for a platform that is none', async () => {
    const step = (...args: string[]) =>
      promisify(execFile)(
        process.execPath,
        [join(ROOT, 'dev/release/main.ts'), 'cli', ...args, '--out', join(folder, 'none')],
        {
          env: { PATH: '/nonexistent' },
        },
      );
    await expect(step()).rejects.toThrow('rcodesign is missing: cargo install apple-codesign');
    await expect(step('--platform', 'windows')).rejects.toThrow(
      '--platform is linux-x64, linux-arm64, macos-arm64, not windows',
    );
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

describe('the file with Node inside', () => {
  let home: string;
  let program: string;

  beforeAll(async () => {
    home = join(folder, 'empty');
    await mkdir(home);
    program = join(await unpack('linux-x64'), 'gatehouse');
  });

  /** Unpacks the file for a platform into a folder of its own. */
  async function unpack(platform: Platform): Promise<string> {
    const to = join(folder, platform);
    await mkdir(to);
    const file = join(folder, 'out', `gatehouse-${version}-${platform}.tar.gz`);
    await promisify(execFile)('tar', ['-xzf', file, '-C', to]);
    return to;
  }

  /** Runs it in an empty folder. There is no other program in PATH. */
  const alone = (args: readonly string[], env = {}) =>
    promisify(execFile)(program, [...args], { cwd: home, env: { HOME: home, PATH: '/nonexistent', ...env } });

  test('is there for each platform, with its checksum and a bill of materials that names Node', async () => {
    const names = PLATFORMS.map((platform) => `gatehouse-${version}-${platform}.tar.gz`);
    expect(executables).toEqual(names.map((name) => join(folder, 'out', name)));
    for (const [index, name] of names.entries()) {
      const place = { cwd: join(folder, 'out') };
      expect((await promisify(execFile)('sha256sum', ['--check', `${name}.sha256`], place)).stdout).toBe(
        `${name}: OK\n`,
      );
      const sbom = join(folder, 'out', `sbom-cli-${PLATFORMS[index]}.cdx.json`);
      const parts = JSON.parse(await readFile(sbom, 'utf8')).components.map((one: { name: string }) => one.name);
      expect(parts).toEqual([expect.stringMatching(/^node-/)]);
    }
  });

  test('is for the processor and the system that its name says, and signed for macOS', async () => {
    expect((await readdir(join(folder, 'linux-x64'))).toSorted()).toEqual([
      'LICENSE',
      'THIRD-PARTY-LICENSES.txt',
      'gatehouse',
    ]);
    // The magic number of ELF and of Mach-O, and the field of each header that names the processor.
    expect([await headerOf(program, 18), await headerOf(join(await unpack('linux-arm64'), 'gatehouse'), 18)]).toEqual([
      ['7f454c46', 62],
      ['7f454c46', 183],
    ]);
    expect(await headerOf(join(await unpack('macos-arm64'), 'gatehouse'), 4)).toEqual(['cffaedfe', 12]);
    expect(await readFile(join(folder, 'rcodesign.log'), 'utf8')).toMatch(
      /^--version\nsign --binary-identifier gatehouse \S+\/macos-arm64\/gatehouse\n$/,
    );
  });

  test('K-11 tells its version and its help where there is no Node, whatever NODE_OPTIONS says', async () => {
    const options = { NODE_OPTIONS: '--require=/nonexistent.js' };
    expect((await alone(['--version'], options)).stdout).toBe(`gatehouse v${version}\n`);
    expect((await alone(['--help'])).stdout).toMatch(/^Usage: gatehouse login\|logout\|kubeconfig --server URL/);
    expect((await alone(['login', '--help'])).stdout).toBe(CLIENT_HELP.login);
    expect(await readdir(home)).toEqual([]);
  });

  test('K-11 signs in by password and by browser, prints a kubeconfig, and signs out', async () => {
    const { gatehouse: server, list } = await startService(await startCluster());
    const { write } = temporaryFolder();
    const session = ['--server', server.origin, '--username', 'ada'];
    const password = ['--password-file', write('password', passwordOf('ada'))];
    const { stdout: token } = await alone(['login', ...session, ...password, '--print', 'token']);
    expect((await list(token.trim())).status).toBe(200);
    const { stdout: kubeconfig } = await alone(['kubeconfig', ...session]);
    expect(kubeconfig).toContain(`server: ${server.origin}`);
    expect((await alone(['logout', ...session])).stderr).toBe(`signed out at ${server.origin}\n`);
    const browser = join(ROOT, 'test/integration/login/fake-browser.ts');
    await writeProgram('xdg-open', `exec '${process.execPath}' '${browser}' "$1"`);
    const desktop = { PATH: join(folder, 'bin'), DISPLAY: ':0', USERNAME: 'ada', PASSWORD: passwordOf('ada') };
    const { stderr } = await alone(['login', '--server', server.origin], desktop);
    expect(stderr).toContain(`signed in at ${server.origin} as ada; `);
  });
});

/** The first four bytes, and the number at this place of the header. */
async function headerOf(file: string, place: number): Promise<readonly [string, number]> {
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(32), 0, 32, 0);
    return [buffer.toString('hex', 0, 4), buffer.readUInt16LE(place)];
  } finally {
    await handle.close();
  }
}
