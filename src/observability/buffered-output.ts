import { write, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LostLines, WaitingLines } from './waiting-lines.ts';

/** No line waits longer for a batch, so that a quiet server shows each at once to a person's eye. */
const LONGEST_WAIT_MS = 100;
/** After a write that was refused, doubled each time up to `LONGEST_WAIT_MS`: a pipe of 64 KiB that is read passes 16 MiB a second. */
const FIRST_PAUSE_MS = 4;
/** A reader who takes nothing any more must not hold up the end of the process. */
const LONGEST_END_MS = 1000;
const END_PAUSE_MS = 10;

/**
 * Standard output, written in batches off the hot path. What nobody reads waits in memory up to a bound; lines above it are
 * dropped and counted. No fault of the output throws or is told by an event: a full pipe, a reader that is gone and a full disk
 * alike are tried again until they are over. (The logger library's own destination has no bound that it tells of, and tries a
 * full or broken pipe for ever when the process ends.)
 */
export class BufferedOutput {
  readonly #fd: number;
  readonly #lines: WaitingLines;
  /** What is still to be written of the batch in hand. */
  #batch: Buffer = Buffer.alloc(0);
  /** Whether a batch is being written, or waits to be tried again. */
  #isPassing = false;
  /** Whether a system call is under way. */
  #isWriting = false;
  #pauseMs = FIRST_PAUSE_MS;
  /** What is left of it: one end may be told in several ways, and waits once. */
  #patienceMs = LONGEST_END_MS;
  #finished: (() => void) | undefined;

  /**
   * `fd`: of `process.stdout`, whose first use makes a pipe one that refuses to be written to when it is full, instead of
   * keeping the thread. `tellLoss` is called with what was lost once the reader is back: a line that it writes stands where
   * the lost ones would.
   */
  constructor(fd: number, tellLoss: (lost: LostLines) => void) {
    this.#fd = fd;
    this.#lines = new WaitingLines(tellLoss);
    setInterval(() => this.#pass(), LONGEST_WAIT_MS).unref();
  }

  /** Dropped since the start. */
  lost = (): LostLines => this.#lines.lost;

  write(line: string): void {
    this.#lines.add(line);
    if (this.#lines.hasBatch) this.#pass();
  }

  /**
   * Writes what is left, at once: for a process that ends now. A fatal line does so by itself. What is being written at
   * this moment may come after it. Gives up when nobody has read for a second.
   */
  flushSync(): void {
    const wasPassing = this.#isPassing;
    this.#isPassing = true; // so that a line which tells of a loss goes this way, too
    if (!this.#isWriting) this.#batch = this.#writeAtOnce(this.#batch);
    while (!this.#lines.isEmpty && this.#patienceMs > 0) this.#writeAtOnce(Buffer.from(this.#lines.take()));
    this.#isPassing = wasPassing;
  }

  /** Resolves once all lines are written, in their order; or after that second. Never rejects. */
  async finish(): Promise<void> {
    const written = new Promise<boolean>((resolve) => {
      this.#finished = () => resolve(true);
    });
    this.#pass();
    const isWritten = await Promise.race([written, sleep(this.#patienceMs, false)]);
    if (!isWritten) this.#patienceMs = 0;
  }

  /** Begins with the next batch, unless the one before is not written yet. */
  #pass(): void {
    if (this.#isPassing) return;
    if (this.#lines.isEmpty) {
      this.#finished?.();
      return;
    }
    this.#isPassing = true; // before lines are taken: a line may come with it that tells of a loss
    this.#batch = Buffer.from(this.#lines.take());
    this.#writeBatch();
  }

  #writeBatch(): void {
    this.#isWriting = true;
    write(this.#fd, this.#batch, (error, written) => {
      this.#isWriting = false;
      if (error) this.#tryLater();
      else this.#wrote(written);
    });
  }

  #wrote(bytes: number): void {
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#batch = this.#batch.subarray(bytes);
    this.#isPassing = this.#batch.length > 0;
    if (this.#isPassing) this.#writeBatch();
    else if (this.#lines.hasBatch || this.#finished) this.#pass();
  }

  /** A pipe that is full says EAGAIN. Other faults may pass as well: somebody makes room on the disk. */
  #tryLater(): void {
    setTimeout(() => this.#writeBatch(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_WAIT_MS);
  }

  /** Answers what could not be written. */
  #writeAtOnce(batch: Buffer): Buffer {
    let rest = batch;
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(this.#fd, rest));
      } catch (error) {
        this.#patienceMs = isFull(error) ? this.#patienceMs - END_PAUSE_MS : 0;
        if (this.#patienceMs <= 0) return rest;
        waitAtOnce(END_PAUSE_MS);
      }
    }
    return rest;
  }
}

/** The pipe is: its reader may yet make room. */
const isFull = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EAGAIN';

function waitAtOnce(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
