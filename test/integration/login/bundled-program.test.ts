import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundle } from '../../../dev/build/bundle.ts';
import { withPair } from '../../../src/cli/login/session.ts';
import { SessionFile } from '../../../src/cli/login/session-file.ts';
import { sessionPlace } from '../../../src/cli/login/session-place.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { execInfo } from './signing-in.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
/** Nothing listens at the port "discard", so the server cannot be asked. */
const OPTIONS = { server: 'https://127.0.0.1:9', clientId: 'gatehouse', username: 'ada' };
const MINUTE_MS = 60_000;

/** Loaded before the program; writes down which modules of Node and which files the program loads. */
const RECORDER = `
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
const loaded = { builtins: [], files: [] };
const get = process.getBuiltinModule;
process.getBuiltinModule = (name) => { loaded.builtins.push(name); return get(name); };
registerHooks({ load: (url, context, next) => {
  (url.startsWith('node:') ? loaded.builtins : loaded.files).push(url);
  return next(url, context);
} });
process.on('exit', () => writeFileSync(process.env.RECORD, JSON.stringify(loaded)));
`;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-bundled-'));
  await writeFile(join(folder, 'recorder.mjs'), RECORDER);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  for (const isSingle of [false, true])
    await bundle({
      root: ROOT,
      entry: 'src/client.ts',
      folder: join(folder, String(isSingle)),
      external: [],
      isSingle,
      startsFast: true,
    });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the bundle as a plug-in, with a session that the server was asked about this long ago. */
async function run(isSingle: boolean, checkedAgoMs: number) {
  const { folder: home } = temporaryFolder();
  const place = sessionPlace(OPTIONS, { environment: {}, homeFolder: home });
  await mkdir(place.folder, { recursive: true, mode: 0o700 });
  const pair = { accessToken: 'access', refreshToken: 'refresh', lifetimeSeconds: 3_600 };
  const file = new SessionFile(place, OPTIONS, { random: systemRandom, userId: process.getuid?.() });
  await file.write(withPair(OPTIONS, pair, Date.now() - checkedAgoMs));
  const record = join(home, 'record.json');
  const program = ['--import', join(folder, 'recorder.mjs'), join(folder, String(isSingle), 'main.js')];
  const args = ['login', `--server=${OPTIONS.server}`, '--username=ada', '--print=credential'];
  const env = { HOME: home, RECORD: record, KUBERNETES_EXEC_INFO: execInfo() };
  const { stdout } = await promisify(execFile)(process.execPath, [...program, ...args], { env });
  const loaded = JSON.parse(await readFile(record, 'utf8')) as Record<'builtins' | 'files', string[]>;
  const files = loaded.files.map((file) => basename(file)).toSorted();
  return { token: JSON.parse(stdout).status.token, builtins: new Set(loaded.builtins), files };
}

describe.each([
  ['in several files', false],
  ['in one file', true],
])('the bundled program %s', (_form, isSingle) => {
  test('K-12 prints the credential of a session that stands and loads nothing that asks the server or a person', async () => {
    const { token, builtins, files } = await run(isSingle, 0);
    expect(token).toBe('access');
    expect(files).toEqual(isSingle ? ['main.js'] : ['main.js', 'rolldown-runtime.js']);
    expect(builtins).toEqual(new Set(['node:fs', 'node:os', 'node:path', 'node:sea', 'node:util']));
  });

  test('loads the rest when the server is to be asked', async () => {
    const { token, builtins, files } = await run(isSingle, 2 * MINUTE_MS);
    expect(token).toBe('access'); // the server cannot be reached
    expect([...builtins]).toEqual(expect.arrayContaining(['node:https', 'node:tls']));
    expect(files.includes('login-by-asking.js')).toBe(!isSingle);
  });
});
