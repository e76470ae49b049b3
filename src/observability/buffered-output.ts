import { write, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AUDIT_MARK, RECORD_MARK } from './logger.ts';

/** The longest that a line waits for a batch, so that a person sees each line of a quiet server at once. */
const LONGEST_WAIT_MS = 100;
/**
 * The pause after a refused write, doubled each time up to `LONGEST_WAIT_MS`. At 4 ms, a pipe of 64 KiB that is being
 * read passes 16 MiB a second.
 */
const FIRST_PAUSE_MS = 4;
/** A reader that has stopped reading must not hold up the end of the process. */
const LONGEST_END_MS = 1000;
const END_PAUSE_MS = 10;

/**
 * Standard output, written in batches off the hot path. Unread lines wait in memory up to a bound; lines above it are
 * dropped and counted. No fault of the output throws or emits an event: writes to a full pipe, a gone reader or a full
 * disk are all tried again until they succeed. (The logger library's own destination has no documented bound, and when
 * the process ends it writes to a full or broken pipe for ever.)
 */
export class BufferedOutput {
  readonly #fd: number;
  readonly #lines: WaitingLines;
  /** The part of the current batch that is still to be written. */
  #batch: Buffer = Buffer.alloc(0);
  /** Whether a batch is being written or waits to be tried again. */
  #isPassing = false;
  /** Whether a system call is under way. */
  #isWriting = false;
  #pauseMs = FIRST_PAUSE_MS;
  /** How much of `LONGEST_END_MS` is left. The process may end in several ways, but all of them share one wait. */
  #patienceMs = LONGEST_END_MS;
  #finished: (() => void) | undefined;

  /**
   * `fd` is that of `process.stdout`. The first use of that stream makes a pipe refuse writes when it is full, instead of blocking
   * the thread. Once the reader is back, `reportLoss` gets what was lost; a line that it writes stands in the place of the lost
   * lines.
   */
  constructor(fd: number, reportLoss: (lost: LostLines) => void) {
    this.#fd = fd;
    this.#lines = new WaitingLines(reportLoss);
    setInterval(() => this.#pass(), LONGEST_WAIT_MS).unref();
  }

  /** Lines dropped since the start. */
  lost = (): LostLines => this.#lines.lost;

  write(line: string): void {
    this.#lines.add(line);
    if (this.#lines.hasBatch) this.#pass();
  }

  /**
   * Writes what is left synchronously, for a process that ends now. In the log format `json` the logger calls this after a fatal
   * line. A batch that is being written at this moment may come after these lines. Gives up when nobody has read for a second.
   */
  flushSync(): void {
    const wasPassing = this.#isPassing;
    this.#isPassing = true; // so that a line about a loss is written here, too
    if (!this.#isWriting) this.#batch = this.#writeAtOnce(this.#batch);
    while (!this.#lines.isEmpty && this.#patienceMs > 0) this.#writeAtOnce(Buffer.from(this.#lines.take()));
    this.#isPassing = wasPassing;
  }

  /** Resolves once all lines are written in their order, or after a second without a reader. Never rejects. */
  async finish(): Promise<void> {
    const written = new Promise<boolean>((resolve) => {
      this.#finished = () => resolve(true);
    });
    this.#pass();
    const isWritten = await Promise.race([written, sleep(this.#patienceMs, false)]);
    if (!isWritten) this.#patienceMs = 0;
  }

  /** Starts writing the next batch, unless the one before is not written yet. */
  #pass(): void {
    if (this.#isPassing) return;
    if (this.#lines.isEmpty) {
      this.#finished?.();
      return;
    }
    this.#isPassing = true; // set before lines are taken, because taking them may add a line that reports a loss
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

  /** Every failed write is tried again: somebody may read from a full pipe (EAGAIN), or free space on the disk. */
  #tryLater(): void {
    setTimeout(() => this.#writeBatch(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_WAIT_MS);
  }

  /** Returns what could not be written. */
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

/** Whether the pipe is full: its reader may still make room. */
const isFull = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EAGAIN';

function waitAtOnce(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Lines are gathered up to this length, so that a busy server makes one system call for a hundred of them. */
const BATCH_LENGTH = 64 * 1024;
/**
 * When this much waits, nobody has read for long: the reader has been away for 5 s at 5,000 lines a second of 500
 * characters, and for hours at the pace of a quiet server. Lengths are UTF-16 code units: one byte each in memory, two
 * in a batch that is not all Latin-1.
 */
const MOST_WAITING = 12 * 1024 * 1024;
/** The last quarter is reserved for the audit trail, whose lines are dropped last. */
const MOST_WAITING_WITH_AUDIT = 16 * 1024 * 1024;
/** Lines are accepted again below this, so that losses come in few stretches, and one line reports each stretch. */
const FEW_WAITING = MOST_WAITING / 2;

/** Lines that were dropped. */
export interface LostLines {
  /** Lines of the audit trail. In the log format `pretty` they cannot be recognized, and count as others. */
  readonly audit: number;
  readonly other: number;
}

/**
 * Lines that wait for their reader, within a bound: lines above it are dropped and counted. Waiting lines are joined batch by
 * batch, because a line as it comes from the logger takes several times its length in memory.
 */
export class WaitingLines {
  readonly #reportLoss: (lost: LostLines) => void;
  readonly #batches: string[] = [];
  #open: string[] = [];
  #openLength = 0;
  #length = 0;
  #lost: LostLines = { audit: 0, other: 0 };
  /** What had been lost when the current stretch began; `undefined` while no line is dropped. */
  #lostBefore: LostLines | undefined;

  /** Calls `reportLoss` after each stretch of losses with what was lost in it. A line that it writes stands right after the gap. */
  constructor(reportLoss: (lost: LostLines) => void) {
    this.#reportLoss = reportLoss;
  }

  /** Lines lost since the start. */
  get lost(): LostLines {
    return this.#lost;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Whether there is enough for a system call. */
  get hasBatch(): boolean {
    return this.#batches.length > 0;
  }

  add(line: string): void {
    if (this.#length + line.length > MOST_WAITING) this.#lostBefore ??= this.#lost;
    if (this.#lostBefore && !this.#isKeptDespiteLoss(line)) return;
    this.#open.push(line);
    this.#openLength += line.length;
    this.#length += line.length;
    if (this.#openLength >= BATCH_LENGTH) this.#batches.push(this.#takeOpen());
  }

  /** The oldest batch, or an incomplete one; empty when no line waits. */
  take(): string {
    const batch = this.#batches.shift() ?? this.#takeOpen();
    this.#length -= batch.length;
    if (this.#lostBefore && this.#length <= FEW_WAITING) this.#endLoss(this.#lostBefore);
    return batch;
  }

  #takeOpen(): string {
    const batch = this.#open.join('');
    this.#open = [];
    this.#openLength = 0;
    return batch;
  }

  /** While lines are dropped: counts the line as lost, unless it is of the audit trail and finds room. */
  #isKeptDespiteLoss(line: string): boolean {
    const isAudit = line.startsWith(RECORD_MARK) || line.includes(AUDIT_MARK);
    if (isAudit && this.#length + line.length <= MOST_WAITING_WITH_AUDIT) return true;
    const { audit, other } = this.#lost;
    this.#lost = isAudit ? { audit: audit + 1, other } : { audit, other: other + 1 };
    return false;
  }

  #endLoss(before: LostLines): void {
    this.#lostBefore = undefined;
    this.#reportLoss({ audit: this.#lost.audit - before.audit, other: this.#lost.other - before.other });
  }
}
