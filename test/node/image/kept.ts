import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder `name` of the cache in the state that `mark` names. `fill` makes it where it is missing; older states are removed. It is
 * complete or not there: the folder gets its name when it is full.
 */
export async function kept(name: string, mark: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'gatehouse', name);
  const folder = join(cache, mark);
  if (existsSync(folder)) return folder;
  await rm(cache, { recursive: true, force: true });
  const unfinished = `${folder}.${process.pid}.part`;
  await mkdir(unfinished, { recursive: true });
  try {
    await fill(unfinished);
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return folder;
}
