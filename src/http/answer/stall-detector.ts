import type { Socket } from 'node:net';

/** A client that stalls is seen at most a sixth of the time limit late. */
const LOOKS = 6;

/**
 * Tells whether the client of one answer has stopped reading: nothing of what waits for it went to the kernel for `sendTimeoutMs`
 * (`limits.sendTimeout`). All times are of the monotonic clock.
 *
 * Why the limit is ten minutes: the kernels do not show a client's reading as it happens. The client's kernel acknowledges it
 * in steps of up to a sixteenth of its receive buffer (2 MiB where buffers grow to 32 MiB, the default of Linux 6.18), and ours
 * asks for more when a third of its send buffer is free (1.3 MiB of 4 MiB). What we see go is whole writes: 64 KiB of events, an
 * export or the gateway, or one large object of 1.5 MB. So a healthy reader of 10 kB/s can seem to take nothing for
 * 5 MB / 10 kB/s = 500 s.
 */
export class StallDetector {
  readonly #sendTimeoutMs: number;
  #isBlocked = false;
  #lookAt = 0;
  /** When bytes were last seen to go, or when the wait began. */
  #movedAt = 0;
  #taken = 0;

  constructor(sendTimeoutMs: number) {
    this.#sendTimeoutMs = sendTimeoutMs;
  }

  /** Whether bytes wait for the client. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** The socket has no room for more. `taken`: the bytes that went to the kernel since the connection began. */
  block(taken: number, now: number): void {
    this.#isBlocked = true;
    this.#movedAt = now;
    this.#taken = taken;
    this.#lookLater(now);
  }

  /** The socket has room: all that waited has gone to the kernel. */
  unblock(): void {
    this.#isBlocked = false;
  }

  /** How long until it is time to ask `isStalled`; `undefined` while nothing waits. */
  dueIn(now: number): number | undefined {
    return this.#isBlocked ? Math.max(0, this.#lookAt - now) : undefined;
  }

  isStalled(taken: number, now: number): boolean {
    if (!this.#isBlocked) return false;
    if (taken > this.#taken) this.#movedAt = now;
    this.#taken = taken;
    this.#lookLater(now);
    return now - this.#movedAt >= this.#sendTimeoutMs;
  }

  #lookLater(now: number): void {
    this.#lookAt = Math.min(now + this.#sendTimeoutMs / LOOKS, this.#movedAt + this.#sendTimeoutMs);
  }
}

/** The bytes of this connection that our kernel has accepted for sending. No system call on every system shows more. */
export const bytesTaken = ({ bytesWritten, writableLength }: Pick<Socket, 'bytesWritten' | 'writableLength'>): number =>
  bytesWritten - writableLength;
