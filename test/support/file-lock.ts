import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Longer than the slowest work under a lock, a cold build of kube-apiserver on a busy machine. */
const LONGEST_WAIT_MS = 30 * 60_000;
const POLL_MS = 500;

/**
 * Runs `work` while no other process of this machine holds the lock `file`. If the owner has ended, a waiter takes the lock over. Two
 * waiters that do so at the same time may both get it. So a lock may save work, but it must not guard data.
 */
export async function withLock(file: string, work: () => Promise<void>): Promise<void> {
  await takeLock(file);
  try {
    await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function takeLock(file: string): Promise<void> {
  for (let waited = 0; waited < LONGEST_WAIT_MS; waited += POLL_MS) {
    if (await create(file)) return;
    if (await isAbandoned(file)) await rm(file, { force: true });
    else await sleep(POLL_MS);
  }
  throw new Error(`${file} is still held after ${LONGEST_WAIT_MS / 60_000} minutes; remove it if nothing builds`);
}

const create = (file: string): Promise<boolean> =>
  writeFile(file, String(process.pid), { flag: 'wx' }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );

async function isAbandoned(file: string): Promise<boolean> {
  const owner = Number(await readFile(file, 'utf8').catch(() => ''));
  if (!Number.isInteger(owner) || owner <= 0) return false; // the file is gone, or its owner is just writing it
  try {
    process.kill(owner, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
