import { destination } from 'pino';

/** Lines wait for each other up to here, so that a busy server makes one system call for a hundred of them … */
const BUFFER_BYTES = 64 * 1024;
/** … and no longer than this, so that a quiet one shows each at once to a person's eye. */
const LONGEST_WAIT_MS = 100;

/** Standard output, written in batches off the hot path. */
export interface BufferedOutput {
  write(text: string): void;
  /** Writes what is left, at once: for the end of the process. A fatal line does so by itself. */
  flushSync(): void;
}

export function createBufferedOutput(): BufferedOutput {
  const output = destination({ sync: false, minLength: BUFFER_BYTES, maxWrite: 4 * BUFFER_BYTES });
  setInterval(() => output.flush(), LONGEST_WAIT_MS).unref();
  return output;
}
