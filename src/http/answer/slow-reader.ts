import type { ServerResponse } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';
import { cutOff } from './cut-off.ts';
import { bytesTaken, StallDetector } from './stall-detector.ts';

interface SlowReaderParts {
  readonly clock: Clock;
  /** A client that reads nothing of the waiting bytes for this long is cut off. */
  readonly sendTimeoutMs: number;
}

/**
 * Cuts off the client of one answer when it stops reading. The timeout of the socket is not enough: it starts again with each byte that
 * the client sends, and Node does not handle it after an upgrade.
 */
export class SlowReader {
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  readonly #stall: StallDetector;
  #cancel = (): void => undefined;

  constructor(response: ServerResponse, { clock, sendTimeoutMs }: SlowReaderParts) {
    this.#response = response;
    this.#clock = clock;
    this.#stall = new StallDetector(sendTimeoutMs);
    // The socket of a client that has gone never drains: without this, a timer would keep the call in memory for minutes.
    response.once('close', () => this.unblock());
  }

  /** Starts the time limit, because bytes wait for the client. */
  block(): void {
    const { socket } = this.#response;
    if (!socket) return;
    this.#stall.block(bytesTaken(socket), this.#clock.monotonic());
    this.#checkLater();
  }

  /** Stops the time limit, because the kernel has accepted all waiting bytes. */
  unblock(): void {
    this.#cancel();
    this.#stall.unblock();
  }

  #checkLater(): void {
    this.#cancel();
    const dueMs = this.#stall.dueIn(this.#clock.monotonic());
    if (dueMs !== undefined) this.#cancel = this.#clock.after(dueMs, () => this.#check());
  }

  #check(): void {
    const { socket } = this.#response;
    if (!socket) return;
    if (this.#stall.isStalled(bytesTaken(socket), this.#clock.monotonic())) cutOff(this.#response);
    else this.#checkLater();
  }
}
