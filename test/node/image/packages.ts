import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Unpacks Debian packages into the folder, as a base image has them: files only, no script of a package runs. */
export async function unpackPackages(names: readonly string[], folder: string): Promise<void> {
  const downloads = await mkdtemp(join(tmpdir(), 'gatehouse-packages-'));
  try {
    // Without the user option apt warns that its own user cannot write here.
    await run('apt-get', ['-q', '-o', 'APT::Sandbox::User=root', 'download', ...names], { cwd: downloads });
    await mkdir(folder, { recursive: true });
    for (const file of await readdir(downloads)) await run('dpkg-deb', ['--extract', join(downloads, file), folder]);
  } finally {
    await rm(downloads, { recursive: true, force: true });
  }
}
