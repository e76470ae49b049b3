import { setTimeout as sleep } from 'node:timers/promises';

const TRIES = 4;
const PAUSE_MS = 5_000;

/**
 * What `work` brings from the network. It is tried again where it fails, since Go asks for each module once: one connection of a
 * thousand that breaks would end a build. What is there already is not fetched again.
 */
export async function downloaded<T>(what: string, work: () => Promise<T>): Promise<T> {
  for (let left = TRIES - 1; left > 0; left--) {
    try {
      return await work();
    } catch (error) {
      if (isNoProgram(error)) throw error;
      process.stderr.write(`downloads: ${what} is tried again: ${saidBy(error)}\n`);
      await sleep(PAUSE_MS);
    }
  }
  return work();
}

const isNoProgram = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** The end of what the program wrote. */
const saidBy = (error: unknown): string =>
  ((error as { readonly stderr?: string }).stderr ?? String(error)).trim().slice(-500);
