import { readdir, readFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { join } from 'node:path';

/**
 * The kernel gives a thread of niceness 10 a tenth of what it gives one of niceness 0 that wants the same core, and all that
 * nobody else wants: two compares that never end leave nine tenths of a core to the event loop.
 */
const NICENESS = 10;

/** How libuv names the threads of its pool, in which passwords are hashed and slow signatures verified. */
const POOL_THREAD = 'libuv-worker';

interface Threads {
  readonly folder: string;
  setPriority(thread: number, niceness: number): void;
}

/** Where Linux lists the threads of this process; it takes the id of a thread where others take that of a process. */
const LINUX: Threads = { folder: '/proc/self/task', setPriority };

/**
 * Lets the event loop go before the thread pool where both want the same core: a flood of sign-ins must not slow down the
 * readers. Answers the number of threads; 0 where threads have no priority of their own, which is everywhere but on
 * Linux. What we sign is signed and verified outside of the pool, and so are most tokens of service accounts. Never rejects.
 */
export async function lowerPoolPriority({ folder, setPriority: set } = LINUX): Promise<number> {
  // This very read starts all threads of the pool, if nothing has before.
  const threads = await readdir(folder).catch(() => []);
  let lowered = 0;
  for (const thread of threads) {
    const name = await readFile(join(folder, thread, 'comm'), 'utf8').catch(() => '');
    if (name.trim() === POOL_THREAD && isSet(() => set(Number(thread), NICENESS))) lowered++;
  }
  return lowered;
}

/** False where a sandbox forbids even to be nicer. */
function isSet(attempt: () => void): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}
