import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../support/control-plane/clients.ts';
import { render } from './helm.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const NODE = process.execPath;
const TSC = join(ROOT, 'node_modules', '.bin', 'tsc');

let app: string;

/** What the Dockerfile's two stages do, in a folder: the compiled program, the production dependencies, `api`, two files. */
beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), 'gatehouse-image-'));
  for (const path of ['package.json', 'package-lock.json', '.npmrc', 'api', 'dev/node/package.json'])
    await cp(join(ROOT, path), join(app, path), { recursive: true });
  await runTool(TSC, ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', join(app, 'dist')]);
  await runTool('npm', ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--prefix', app]);
  const build = { gitCommit: '0'.repeat(40), gitTreeState: 'clean', buildDate: '2026-01-01T00:00:00Z' };
  await writeFile(join(app, 'build.json'), JSON.stringify(build));
});
afterAll(() => rm(app, { recursive: true, force: true }));

const gatehouse = (args: readonly string[], input = ''): Promise<string> =>
  runTool(NODE, [join(app, 'dist', 'main.js'), ...args], input);

describe('what the image holds', () => {
  test('runs: --version tells the release', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(await gatehouse(['--version'])).toBe(`gatehouse v${version}\n`);
  });

  test('hashes a password with the native module of its platform', async () => {
    expect(await gatehouse(['hash-password'], 'a password of the test\n')).toMatch(
      /^\$2[by]\$10\$[./A-Za-z0-9]{53}\n$/,
    );
  });

  test('takes the configuration file that the chart renders', async () => {
    expect(await gatehouse(['--check-config', '--config', await renderedConfig()])).toBe('the configuration is good\n');
  });

  test('has nothing that only development needs', async () => {
    const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { readonly dev?: boolean }>;
    };
    const developmentOnly = Object.keys(packages).filter(
      (path) => path.startsWith('node_modules/') && packages[path]?.dev === true,
    );
    expect(developmentOnly).toContain('node_modules/vitest');
    expect(developmentOnly.filter((path) => existsSync(join(app, path)))).toEqual([]);
  });

  test('has compiled sources only', async () => {
    const files = (await readdir(join(app, 'dist'), { recursive: true, withFileTypes: true })).filter((one) =>
      one.isFile(),
    );
    expect(files.map(({ name }) => name).filter((name) => !name.endsWith('.js'))).toEqual([]);
  });
});

async function renderedConfig(): Promise<string> {
  const file = join(app, 'config.yaml');
  await writeFile(file, (await render()).configFile);
  return file;
}
