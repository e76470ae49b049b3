import type { PodRecord, StreamLine } from './stream-record.ts';

/** What the page itself has to say between the lines. */
interface OwnNote {
  readonly type: 'note';
  /** `gap`: the stream was broken off, and goes on. */
  readonly event: 'gap';
  readonly seconds: number;
}

/** What is shown in one row. */
export type Row = StreamLine | PodRecord | OwnNote;

/** Neighbouring rows. A block never changes: a row more makes another block of the same number. */
export interface Block {
  readonly number: number;
  readonly rows: readonly Row[];
  /** Characters of all texts. */
  readonly size: number;
}

export interface Limits {
  readonly rows: number;
  /** Characters of all texts. */
  readonly size: number;
}

const BLOCK_ROWS = 100;
/** A block ends before it has more characters, so that little more than too much is dropped at once. */
const BLOCK_SIZE = 256 * 1024;
/** What a row needs beside its text. */
const ROW_SIZE = 100;

const sizeOf = (row: Row): number => ROW_SIZE + (row.type === 'line' ? row.text.length : 0);

/** The newest rows, within limits. */
export class KeptRows {
  readonly #limits: Limits;
  #blocks: readonly Block[] = [];
  #next = 0;
  #rows = 0;
  #size = 0;
  #dropped = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** All blocks, the oldest first. The list that was given out never changes. */
  get blocks(): readonly Block[] {
    return this.#blocks;
  }

  get count(): number {
    return this.#rows;
  }

  /** How many rows were dropped because there were too many. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Whether the limits are reached: more rows would let older ones go. */
  get isFull(): boolean {
    return this.#rows >= this.#limits.rows || this.#size >= this.#limits.size;
  }

  /** Adds rows behind all others. Drops the oldest blocks as long as the limits are exceeded without them. */
  add(rows: readonly Row[]): void {
    const blocks = [...this.#blocks];
    let last = blocks.pop();
    let open: Row[] = last ? [...last.rows] : [];
    let size = last?.size ?? 0;
    const close = (): void => {
      if (open.length > 0) blocks.push({ number: last?.number ?? this.#next++, rows: open, size });
      [last, open, size] = [undefined, [], 0];
    };
    for (const row of rows) {
      if (open.length >= BLOCK_ROWS || size >= BLOCK_SIZE) close();
      open.push(row);
      size += sizeOf(row);
      this.#size += sizeOf(row);
    }
    close();
    this.#rows += rows.length;
    this.#blocks = blocks.slice(this.#dropFrom(blocks));
  }

  /** Takes all rows out. */
  clear(): void {
    [this.#blocks, this.#rows, this.#size, this.#dropped] = [[], 0, 0, 0];
  }

  #dropFrom(blocks: readonly Block[]): number {
    let place = 0;
    while (place < blocks.length - 1 && (this.#rows > this.#limits.rows || this.#size > this.#limits.size)) {
      const { rows, size } = blocks[place++] as Block;
      this.#rows -= rows.length;
      this.#size -= size;
      this.#dropped += rows.length;
    }
    return place;
  }
}
