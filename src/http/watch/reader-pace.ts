/**
 * Cuts off a client that reads less than this in a minute while more is ready for it. Otherwise it would hold its
 * place, and some megabytes of kernel memory, for as long as it likes. 2.2 kB/s is a quarter of the rate of the slowest
 * reader that is of any use. A reader's kernel takes bytes in steps, of 64 KiB on a loopback interface. The limit is
 * two steps, so that a step which falls into the next minute does no harm.
 */
export const LEAST_BYTES_A_MINUTE = 128 * 1024;
const MINUTE_MS = 60_000;
/** Looks within `stallMs`: a client that reads nothing is cut off at most a sixth of that time late. */
const LOOKS = 6;

/**
 * Judges whether the reader of one stream takes what is ready for it. The socket alone does not tell: the kernel asks
 * for more only when a third of its send buffer is free. That is a megabyte, and takes a reader of 10 kB/s two minutes.
 * All times are of the monotonic clock.
 */
export class ReaderPace {
  readonly #stallMs: number;
  /** Since when bytes have been waiting for the reader. */
  #blockedAt: number | undefined;
  #lookAt = 0;
  /** When the reader was last seen to take something, or when the wait began. */
  #movedAt = 0;
  /** The most bytes that it was seen to have taken; `undefined` until the first look of a wait. */
  #taken: number | undefined;
  /** Where the current minute began; `undefined` while nothing waits for the reader. */
  #minute: { readonly at: number; readonly taken: number } | undefined;

  /** `stallMs`: a client that reads nothing for this long is cut off. */
  constructor(stallMs: number) {
    this.#stallMs = stallMs;
  }

  get isBlocked(): boolean {
    return this.#blockedAt !== undefined;
  }

  /** The socket has no room for more. */
  block(now: number): void {
    this.#blockedAt = now;
    this.#movedAt = now;
    this.#taken = undefined;
    this.#lookAt = now + this.#stallMs / LOOKS;
  }

  /** The socket has room: all that waited has gone to the kernel. */
  unblock(): void {
    this.#blockedAt = undefined;
  }

  /** Nothing waits for the reader. */
  rest(): void {
    this.#minute = undefined;
  }

  /** Whether it is time to look at what the reader has taken. */
  isDue(now: number): boolean {
    return this.#blockedAt !== undefined && (now >= this.#lookAt || now - this.#movedAt >= this.#stallMs);
  }

  /** Returns false when the reader is too slow. `taken`: all bytes that it took since the stream began, as of `now`. */
  keepsUp(taken: number, now: number): boolean {
    if (this.#blockedAt === undefined || this.#blockedAt > now) return true;
    this.#lookAt = now + this.#stallMs / LOOKS;
    if (this.#taken !== undefined && taken > this.#taken) this.#movedAt = now;
    this.#taken = Math.max(taken, this.#taken ?? 0);
    return now - this.#movedAt < this.#stallMs && this.#isFastEnough(this.#taken, now);
  }

  #isFastEnough(taken: number, now: number): boolean {
    const minute = this.#minute ?? { at: now, taken };
    const isOver = now - minute.at >= MINUTE_MS;
    this.#minute = isOver ? { at: now, taken } : minute;
    return !isOver || taken - minute.taken >= LEAST_BYTES_A_MINUTE;
  }
}
