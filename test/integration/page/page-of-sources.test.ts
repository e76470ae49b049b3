import { cpSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeConfig } from '../../support/gatehouse.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { Program, runProgram } from '../service/program.ts';
import { startCluster, usersFile } from '../service/stand.ts';

const ROOT = resolve(import.meta.dirname, '..', '..', '..');
const NOT_BUILT = 'page.enabled: the page is not built; run npm run build, or set page.enabled to false';

/** What `npm ci` leaves in a checkout: the sources and the packages, and nothing that is built. */
function checkout(): string {
  const { folder } = temporaryFolder();
  for (const name of ['package.json', 'api', 'src', 'web', 'dev/build'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Makes the page as `npm start` does. */
const makePage = (folder: string) => runProgram([], { module: join(folder, 'dev/build/page-of-sources.ts') });

async function configure(folder: string, config: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const { kubeconfig } = await startCluster();
  return writeConfig(folder, { config, kubeconfig: kubeconfig(), users: await usersFile() });
}

const start = (folder: string, config: string): Program =>
  new Program(['--config', config], { module: join(folder, 'src/main.ts') });

describe('a program that runs from its sources', () => {
  test('W-07 without a built page ends with 1 and one sentence that says what to do', async () => {
    const folder = checkout();
    const { code, stdout, stderr } = await start(folder, await configure(folder)).ended;
    expect([code, stderr]).toEqual([1, `gatehouse: ${NOT_BUILT}\n`]);
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ level: 'fatal', msg: NOT_BUILT });
  });

  test('W-07 without a built page serves all else with `page.enabled: false`', async () => {
    const folder = checkout();
    const service = await start(folder, await configure(folder, { page: { enabled: false } })).service();
    expect([(await service.call('/version')).status, (await service.call('/')).status]).toEqual([200, 401]);
  });

  test('W-07 serves the page that `npm start` makes first, and no file of one from before', async () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect([scripts.prestart, scripts.start]).toEqual(['node dev/build/page-of-sources.ts', 'node src/main.ts']);
    const folder = checkout();
    const config = await configure(folder);
    cpSync(join(folder, 'web/style.css'), join(folder, 'dist/page/assets/from-before.css'));
    expect(await makePage(folder)).toEqual({ code: 0, stdout: '', stderr: '' });
    const service = await start(folder, config).service();
    const { status, text } = await service.call('/');
    expect([status, text]).toEqual([200, readFileSync(join(folder, 'dist/page/index.html'), 'utf8')]);
    expect((await service.call('/assets/from-before.css')).status).toBe(404);
  });

  test('W-07 `npm start` without the packages of development leaves it to the program to say what is missing', async () => {
    const folder = checkout();
    rmSync(join(folder, 'node_modules'));
    expect(await makePage(folder)).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});
