import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packCli } from '../../dev/release/cli.ts';
import { isPlatform, packExecutables } from '../../dev/release/executables.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** The program for laptops in both forms, as the release makes it. */
export interface LoginPrograms {
  /** Runs with the Node that comes first in PATH. */
  readonly package: string;
  /** Has Node inside. Undefined on a system for which the release has none. */
  readonly single: string | undefined;
}

/** Makes and unpacks the programs. That takes a quarter of a minute. */
export async function makeLoginPrograms(folder: string): Promise<LoginPrograms> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
  const out = join(folder, 'release');
  await mkdir(out);
  const where = { root: ROOT, out, version };
  const program = join(await unpack(await packCli(where), join(folder, 'package')), 'package/dist/main.js');
  await chmod(program, 0o755); // npm does the same when it installs the package
  const platform = `linux-${process.arch}`; // that of macOS needs a program to sign it
  if (process.platform !== 'linux' || !isPlatform(platform)) return { package: program, single: undefined };
  const [file = ''] = await packExecutables(where, [platform]);
  return { package: program, single: join(await unpack(file, join(folder, 'single')), 'gatehouse') };
}

async function unpack(file: string, to: string): Promise<string> {
  await mkdir(to);
  await run('tar', ['-xzf', file, '-C', to]);
  return to;
}
