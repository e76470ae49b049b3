import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from './file-lock.ts';

const run = promisify(execFile);

/**
 * The path of a Python that has exactly the packages of this file, with its versions and hashes. It is made once in the cache folder, which
 * takes a minute. Each content of the file has its own folder.
 */
export async function pythonWith(name: string, requirements: string): Promise<string> {
  const mark = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'gatehouse', 'python', `${name}-${mark}-${process.platform}-${process.arch}`);
  const python = join(folder, 'bin', 'python');
  const complete = join(folder, 'complete'); // written last, so that nobody uses half an environment
  await withLock(join(tmpdir(), `gatehouse-${name}-${mark}.lock`), async () => {
    if (existsSync(complete)) return;
    await rm(folder, { recursive: true, force: true });
    await run('python3', ['-m', 'venv', folder]).catch((cause) => {
      throw new Error('no Python environment could be made; Debian needs the package python3-venv', { cause });
    });
    const install = ['install', '--quiet', '--no-deps', '--require-hashes', '--requirement', requirements];
    await run(python, ['-m', 'pip', '--disable-pip-version-check', ...install]);
    writeFileSync(complete, '');
  });
  return python;
}
