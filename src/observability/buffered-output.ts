import { setTimeout as sleep } from 'node:timers/promises';
import { destination } from 'pino';

/** Lines wait for each other up to here, so that a busy server makes one system call for a hundred of them … */
const BUFFER_LENGTH = 64 * 1024;
/** … and no longer than this, so that a quiet one shows each at once to a person's eye. */
const LONGEST_WAIT_MS = 100;
/** A code unit is three bytes at most, and the last line may begin right before the limit: what waits is never more. */
const LARGEST_BATCH_BYTES = 4 * BUFFER_LENGTH;
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
  // It begins to write when it is told to: what it has begun by itself could no longer be written at once by `flushSync`.
  const output = destination({ sync: false, minLength: LARGEST_BATCH_BYTES, maxWrite: 2 * LARGEST_BATCH_BYTES });
  const lines = new Lines();
  // Also when no line waits here: what was passed on during a write is written at a later flush.
  const pass = (): void => {
    if (lines.length > 0) output.write(lines.take());
    output.flush();
  };
  setInterval(pass, LONGEST_WAIT_MS).unref();
  const flushed = (): Promise<void> => new Promise((resolve) => output.flush(() => resolve()));
  return {
    write: (text) => {
      lines.add(text);
      if (lines.length >= BUFFER_LENGTH) pass();
    },
    flushSync: () => {
      output.write(lines.take());
      output.flushSync();
    },
    finish: () => {
      pass();
      // The first waits for what is being written, the second writes what came meanwhile.
      return Promise.race([flushed().then(pass).then(flushed), sleep(LONGEST_END_MS)]);
    },
  };
}

/**
 * Lines that wait for a batch. The destination could hold them as well, but it measures all of what waits at every line, which
 * is a third of what a line costs.
 */
class Lines {
  #lines: string[] = [];
  #length = 0;

  /** In UTF-16 code units. */
  get length(): number {
    return this.#length;
  }

  add(text: string): void {
    this.#lines.push(text);
    this.#length += text.length;
  }

  /** All of them as one text; none waits any more. */
  take(): string {
    const text = this.#lines.join('');
    this.#lines = [];
    this.#length = 0;
    return text;
  }
}
