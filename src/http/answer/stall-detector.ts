import type { Socket } from 'node:net';

/** The number of checks within the time limit: a client that stalls is noticed at most a sixth of the limit late. */
const CHECKS = 6;

/**
 * Decides whether the client of one answer has stopped reading: the kernel has accepted none of the waiting bytes for `sendTimeoutMs`
 * (`limits.sendTimeout`). All times are of the monotonic clock.
 *
 * The limit is ten minutes, because we notice only much later that a client reads. The client's kernel acknowledges bytes in steps of up
 * to a sixteenth of its receive buffer: 2 MiB if buffers grow to 32 MiB, the default of Linux 6.18. Our kernel accepts more bytes when a
 * third of its send buffer is free: 1.3 MiB of 4 MiB. And we see only whole writes: 64 KiB of events, of an export or of the gateway, or
 * one large object of 1.5 MB. So a healthy client that reads 10 kB/s can seem to read nothing for 5 MB / 10 kB/s = 500 s.
 */
export class StallDetector {
  readonly #sendTimeoutMs: number;
  #isBlocked = false;
  #checkAt = 0;
  /** When bytes were last accepted, or when the wait began. */
  #movedAt = 0;
  #taken = 0;

  constructor(sendTimeoutMs: number) {
    this.#sendTimeoutMs = sendTimeoutMs;
  }

  /** Whether bytes wait for the client. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** To be called when the socket has no room for more. `taken`: the bytes that the kernel has accepted since the connection began. */
  block(taken: number, now: number): void {
    this.#isBlocked = true;
    this.#movedAt = now;
    this.#taken = taken;
    this.#planCheck(now);
  }

  /** To be called when the socket has room again: the kernel has accepted all waiting bytes. */
  unblock(): void {
    this.#isBlocked = false;
  }

  /** The time until `isStalled` should be called; `undefined` while nothing waits. */
  dueIn(now: number): number | undefined {
    return this.#isBlocked ? Math.max(0, this.#checkAt - now) : undefined;
  }

  isStalled(taken: number, now: number): boolean {
    if (!this.#isBlocked) return false;
    if (taken > this.#taken) this.#movedAt = now;
    this.#taken = taken;
    this.#planCheck(now);
    return now - this.#movedAt >= this.#sendTimeoutMs;
  }

  #planCheck(now: number): void {
    this.#checkAt = Math.min(now + this.#sendTimeoutMs / CHECKS, this.#movedAt + this.#sendTimeoutMs);
  }
}

/** The bytes of this connection that our kernel has accepted for sending. There is no portable way to learn more. */
export const bytesTaken = ({ bytesWritten, writableLength }: Pick<Socket, 'bytesWritten' | 'writableLength'>): number =>
  bytesWritten - writableLength;
