import { setTimeout as sleep } from 'node:timers/promises';
import { destination } from 'pino';

/** Lines wait for each other up to here, so that a busy server makes one system call for a hundred of them … */
const BUFFER_BYTES = 64 * 1024;
/** … and no longer than this, so that a quiet one shows each at once to a person's eye. */
const LONGEST_WAIT_MS = 100;
/** A reader who takes nothing any more must not hold up the end of the process. */
const LONGEST_END_MS = 1000;

/** Standard output, written in batches off the hot path. */
export interface BufferedOutput {
  write(text: string): void;
  /**
   * Writes what is left, at once: for a process that ends now. A fatal line does so by itself. What is being written at
   * this moment may come after it.
   */
  flushSync(): void;
  /** Resolves once all lines are written, in their order; or after a second, when nobody takes them. Never rejects. */
  finish(): Promise<void>;
}

export function createBufferedOutput(): BufferedOutput {
  const output = destination({ sync: false, minLength: BUFFER_BYTES, maxWrite: 4 * BUFFER_BYTES });
  setInterval(() => output.flush(), LONGEST_WAIT_MS).unref();
  const flushed = (): Promise<void> => new Promise((resolve) => output.flush(() => resolve()));
  return {
    write: (text) => void output.write(text),
    flushSync: () => output.flushSync(),
    // The first waits for what is being written, the second writes what came meanwhile.
    finish: () => Promise.race([flushed().then(flushed), sleep(LONGEST_END_MS)]),
  };
}
