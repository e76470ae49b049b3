import { AUDIT_MARK } from './logger.ts';

/** Lines wait for each other up to here, so that a busy server makes one system call for a hundred of them. */
const BATCH_LENGTH = 64 * 1024;
/**
 * Once this much waits, nobody has read for long: at 5,000 lines a second of 500 characters the reader has been away for 5 s, at the
 * pace of a quiet server for hours. Lengths are UTF-16 code units: a byte each in memory, two in a batch that is not all Latin-1.
 */
const MOST_WAITING = 12 * 1024 * 1024;
/** The last quarter is for the audit trail: its lines are the last to go. */
const MOST_WAITING_WITH_AUDIT = 16 * 1024 * 1024;
/** Lines are taken again from here on: losses come in few stretches, and each stretch is told by one line. */
const FEW_WAITING = MOST_WAITING / 2;

/** Lines that were dropped. */
export interface LostLines {
  /** Of the audit trail. In a log of the form `pretty` they cannot be told from others. */
  readonly audit: number;
  readonly other: number;
}

/**
 * Lines that wait for their reader, within a bound: what comes above it is dropped and counted. Waiting lines are joined batch by
 * batch, since a line as its logger leaves it takes several times its length.
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

  /** `tellLoss` is called after each stretch, where the next line will stand behind the gap: with what was lost in it. */
  constructor(tellLoss: (lost: LostLines) => void) {
    this.#tellLoss = tellLoss;
  }

  /** Since the start. */
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

  /** The oldest batch, or what there is of one; empty when no line waits. */
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
