import { AUDIT_MARK } from './logger.ts';

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
  /** Lines of the audit trail. In a log of the form `pretty` they cannot be told from others. */
  readonly audit: number;
  readonly other: number;
}

/**
 * Lines that wait for their reader, within a bound: lines above it are dropped and counted. Waiting lines are joined
 * batch by batch, since a line as the logger hands it over takes several times its length in memory.
 */
export class WaitingLines {
  readonly #tellLoss: (lost: LostLines) => void;
  readonly #batches: string[] = [];
  #open: string[] = [];
  #openLength = 0;
  #length = 0;
  #lost: LostLines = { audit: 0, other: 0 };
  /** What had been lost when the current stretch began; `undefined` while no line is dropped. */
  #lostBefore: LostLines | undefined;

  /**
   * `tellLoss` is called after each stretch of losses with what was lost in it, when the next line will stand right
   * after the gap.
   */
  constructor(tellLoss: (lost: LostLines) => void) {
    this.#tellLoss = tellLoss;
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
    if (this.#lostBefore && !this.#isKeptAllTheSame(line)) return;
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
  #isKeptAllTheSame(line: string): boolean {
    const isAudit = line.includes(AUDIT_MARK);
    if (isAudit && this.#length + line.length <= MOST_WAITING_WITH_AUDIT) return true;
    const { audit, other } = this.#lost;
    this.#lost = isAudit ? { audit: audit + 1, other } : { audit, other: other + 1 };
    return false;
  }

  #endLoss(before: LostLines): void {
    this.#lostBefore = undefined;
    this.#tellLoss({ audit: this.#lost.audit - before.audit, other: this.#lost.other - before.other });
  }
}
