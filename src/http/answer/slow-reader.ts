import type { ServerResponse } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';
import { cutOff } from './cut-off.ts';
import { bytesTaken, StallDetector } from './stall-detector.ts';

interface SlowReaderParts {
  readonly clock: Clock;
  /** A client that takes nothing of what waits for it for this long is cut off. */
  readonly sendTimeoutMs: number;
}

/**
 * Cuts off the client of one answer when it stops reading. The time limit of the socket would not do: it begins again with each
 * byte that the client sends, and nobody minds it after an upgrade.
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
    // A client that goes never drains its socket: without this a timer would keep the call in memory for minutes.
    response.once('close', () => this.unblock());
  }

  /** From now on bytes wait for the client. */
  block(): void {
    const { socket } = this.#response;
    if (!socket) return;
    this.#stall.block(bytesTaken(socket), this.#clock.monotonic());
    this.#lookLater();
  }

  /** All that waited has gone to the kernel. */
  unblock(): void {
    this.#cancel();
    this.#stall.unblock();
  }

  #lookLater(): void {
    this.#cancel();
    const dueMs = this.#stall.dueIn(this.#clock.monotonic());
    if (dueMs !== undefined) this.#cancel = this.#clock.after(dueMs, () => this.#look());
  }

  #look(): void {
    const { socket } = this.#response;
    if (!socket) return;
    if (this.#stall.isStalled(bytesTaken(socket), this.#clock.monotonic())) cutOff(this.#response);
    else this.#lookLater();
  }
}
