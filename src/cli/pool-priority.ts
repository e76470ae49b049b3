import { readdir, readFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { join } from 'node:path';

/**
 * When a thread of niceness 10 and one of niceness 0 want the same core, the kernel gives the first a tenth of what the
 * second gets; it still gets all idle time. So even two password compares that never end leave nine tenths of a core to the
 * event loop.
 */
const NICENESS = 10;

/** The name that libuv gives the threads of its pool, which hash passwords and verify slow signatures. */
const POOL_THREAD = 'libuv-worker';

interface Threads {
  readonly folder: string;
  setPriority(thread: number, niceness: number): void;
}

/** Where Linux lists the threads of this process. Linux accepts a thread id where other systems take a process id. */
const LINUX: Threads = { folder: '/proc/self/task', setPriority };

/**
 * Gives the event loop priority over the thread pool where both want the same core: a flood of sign-ins must not slow
 * down reads (R-02, docs/promises.md). Resolves to the number of threads whose priority was lowered; 0 on systems other
 * than Linux, where threads have no priority of their own. Our own signatures are made and verified outside the pool, and
 * so are most signatures of service accounts. Never rejects.
 */
export async function lowerPoolPriority({ folder, setPriority: set } = LINUX): Promise<number> {
  // This read itself starts all threads of the pool if they do not run yet.
  const threads = await readdir(folder).catch(() => []);
  let lowered = 0;
  for (const thread of threads) {
    const name = await readFile(join(folder, thread, 'comm'), 'utf8').catch(() => '');
    if (name.trim() === POOL_THREAD && isSet(() => set(Number(thread), NICENESS))) lowered++;
  }
  return lowered;
}

/** Returns false where a sandbox forbids even a lower priority. */
function isSet(attempt: () => void): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}
