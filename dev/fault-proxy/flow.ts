import type { Socket } from 'node:net';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Direction, Fault } from './fault.ts';

/** A sender has to wait when more than this is buffered, as with a real network. */
const MOST_QUEUED_BYTES = 1024 * 1024;
/** Twenty slices a second are enough for a slow stream to flow evenly, and few enough to cost nothing. */
const SLICES_PER_SECOND = 20;
/** The flow catches up on at most this much time lost by a late timer, so that the rate holds on a busy machine. */
const CATCH_UP_MS = 200;

export interface FlowParts {
  readonly direction: Direction;
  readonly source: Socket;
  readonly sink: Socket;
  readonly clock: Clock;
  fault(): Fault;
  passed(bytes: number): void;
  /** Called when the last byte before a `cut` was passed on. */
  onCut(ending: 'close' | 'reset'): void;
}

/** One direction of a connection: reads bytes and passes them on as the current fault allows. */
export class Flow {
  readonly #parts: FlowParts;
  readonly #queue: { bytes: Buffer; readonly at: number }[] = [];
  #queued = 0;
  #passed = 0;
  #sourceEnded = false;
  #closed = false;
  /** The time at which `bytesPerSecond` allows the next slice. */
  #nextAt = Number.NEGATIVE_INFINITY;
  #news = new AbortController();

  constructor(parts: FlowParts) {
    this.#parts = parts;
    const { source } = parts;
    source.on('data', (bytes: Buffer) => this.#take(bytes));
    source.once('end', () => {
      this.#sourceEnded = true;
      this.wake();
    });
  }

  /** Called when something has changed: checks again what may pass. */
  wake(): void {
    this.#news.abort();
    this.#news = new AbortController();
  }

  close(): void {
    this.#closed = true;
    this.wake();
  }

  /** Resolves when the flow is closed or has passed on its end. */
  async run(): Promise<void> {
    const { sink, clock } = this.#parts;
    while (!this.#closed) {
      if (this.#isOver()) return void sink.end();
      const waitMs = this.#waitMs();
      if (waitMs > 0) await clock.sleep(waitMs, this.#news.signal);
      else await this.#passSlice();
    }
  }

  #take(bytes: Buffer): void {
    this.#queue.push({ bytes, at: this.#parts.clock.monotonic() });
    this.#queued += bytes.length;
    if (this.#queued > MOST_QUEUED_BYTES) this.#parts.source.pause();
    this.wake();
  }

  #isOver(): boolean {
    return this.#sourceEnded && this.#queue.length === 0 && !this.#isHeld() && !this.#parts.fault().swallowFin;
  }

  #isHeld(): boolean {
    const { hold } = this.#parts.fault();
    return hold === 'both' || hold === this.#parts.direction || this.#leftBeforeCut() <= 0;
  }

  /** The time until the next byte may pass; infinite if that needs a change first. */
  #waitMs(): number {
    const head = this.#queue[0];
    if (!head || this.#isHeld()) return Number.POSITIVE_INFINITY;
    const { delayMs = 0, bytesPerSecond } = this.#parts.fault();
    const paced = bytesPerSecond === undefined ? 0 : this.#nextAt;
    return Math.max(head.at + delayMs, paced) - this.#parts.clock.monotonic();
  }

  async #passSlice(): Promise<void> {
    const head = this.#queue[0] as { bytes: Buffer };
    const slice = head.bytes.subarray(0, Math.min(this.#sliceBytes(), this.#leftBeforeCut()));
    head.bytes = head.bytes.subarray(slice.length);
    if (head.bytes.length === 0) this.#queue.shift();
    this.#queued -= slice.length;
    this.#passed += slice.length;
    this.#parts.passed(slice.length);
    this.#pace(slice.length);
    await written(this.#parts.sink, slice);
    if (this.#queued <= MOST_QUEUED_BYTES) this.#parts.source.resume();
    const { cut } = this.#parts.fault();
    if (cut && cut.ending !== 'silence' && this.#leftBeforeCut() <= 0) this.#parts.onCut(cut.ending);
  }

  #sliceBytes(): number {
    const { bytesPerSecond = Number.POSITIVE_INFINITY } = this.#parts.fault();
    return Math.max(1, Math.floor(bytesPerSecond / SLICES_PER_SECOND));
  }

  #pace(bytes: number): void {
    const { bytesPerSecond } = this.#parts.fault();
    if (bytesPerSecond === undefined) return;
    const from = Math.max(this.#nextAt, this.#parts.clock.monotonic() - CATCH_UP_MS);
    this.#nextAt = from + (bytes / bytesPerSecond) * 1000;
  }

  #leftBeforeCut(): number {
    const { cut } = this.#parts.fault();
    return cut && this.#parts.direction === 'toClient' ? cut.atByte - this.#passed : Number.POSITIVE_INFINITY;
  }
}

/** Resolves when the kernel has the bytes, or the socket is gone. */
const written = (sink: Socket, bytes: Buffer): Promise<void> =>
  new Promise((resolve) => {
    if (sink.destroyed || sink.writableEnded) resolve();
    else sink.write(bytes, () => resolve());
  });
