import { stat } from 'node:fs/promises';
import type { Clock } from './clock.ts';

/** A change of a file should take effect within 5 s, like any revocation. 2 s leave room for a slow disk. */
const POLL_MS = 2000;

interface FollowParts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Calls `reload` at the start, and again whenever the file may have changed, until the signal aborts. It looks at the
 * file by name each time, through links, so that it notices an atomic replacement and the swapped links of a mounted
 * Secret.
 */
export const followFile = (path: string, reload: () => Promise<void>, parts: FollowParts): Promise<void> =>
  followFiles([path], reload, parts);

/** Follows files that belong together. */
export async function followFiles(
  paths: readonly string[],
  reload: () => Promise<void>,
  { clock, signal }: FollowParts,
): Promise<void> {
  let seen = '';
  while (!signal.aborted) {
    // Take the mark before the content is read, so that a change during the read is noticed the next time.
    const mark = (await Promise.all(paths.map(fileMark))).join('\n');
    if (mark !== seen) await reload();
    seen = mark;
    await clock.sleep(POLL_MS, signal);
  }
}

/** Differs whenever the file behind the name may differ: another file, another time, another size. */
async function fileMark(path: string): Promise<string> {
  try {
    const { dev, ino, mtimeNs, ctimeNs, size } = await stat(path, { bigint: true });
    return [dev, ino, mtimeNs, ctimeNs, size].join(' ');
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}
