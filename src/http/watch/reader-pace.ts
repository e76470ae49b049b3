/**
 * Who takes less in a minute, while more lies ready for it, is cut off: it would hold its place, and some megabytes of the kernel's, for as long as
 * it likes. 2.2 kB/s is a quarter of what the slowest reader that was ever of use takes. A reader's kernel takes in
 * steps, 64 KiB each on a loopback interface: two of them, so that none falls into the wrong minute.
 */
export const LEAST_BYTES_A_MINUTE = 128 * 1024;
const MINUTE_MS = 60_000;
/** Looks in the time after which one that takes nothing is cut off: it ends a sixth of that late at most. */
const LOOKS = 6;

/**
 * Whether the reader of one stream takes what lies ready. What its socket says is not enough: the kernel asks for more when a third of
 * its send buffer is free, which is a megabyte and takes a reader of 10 kB/s two minutes. All times are of the monotonic clock.
 */
export class ReaderPace {
  readonly #stallMs: number;
  /** Since when what lies ready waits for the reader. */
  #blockedAt: number | undefined;
  #lookAt = 0;
  /** When it was last seen to take something, or began to be waited for. */
  #movedAt = 0;
  /** The most that it was seen to have taken; `undefined` until the first look at what it is waited for. */
  #taken: number | undefined;
  /** Where its minute began; `undefined` while nothing waits for it. */
  #minute: { readonly at: number; readonly taken: number } | undefined;

  /** `stallMs`: who takes nothing for so long is cut off. */
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

  /** Whether what it has taken is to be looked at. */
  isDue(now: number): boolean {
    return this.#blockedAt !== undefined && (now >= this.#lookAt || now - this.#movedAt >= this.#stallMs);
  }

  /** False: it is too slow. `taken`: all bytes since the stream began, as they were at `now`. */
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
