import type { ServerResponse } from 'node:http';
import type { Clock } from '../runtime/clock.ts';
import { cutOff } from './answer/cut-off.ts';
import { readSendQueues } from './answer/send-queues.ts';
import { ReaderPace } from './watch/reader-pace.ts';

/** Of the time in which a client may take nothing. */
const LOOKS = 6;

interface SlowReaderParts {
  readonly clock: Clock;
  /** A client that takes nothing for this long is cut off. */
  readonly stallMs: number;
}

/**
 * Looks at what a client takes of one answer while more waits for it, and cuts it off by the rules of `ReaderPace`. The time
 * limit of the socket would not do: it begins anew with each byte that the client sends, and nobody minds it after an upgrade.
 */
export class SlowReader {
  readonly #response: ServerResponse;
  readonly #parts: SlowReaderParts;
  readonly #pace: ReaderPace;
  /** How often something began to wait for the client. */
  #waits = 0;
  #cancel = (): void => undefined;

  constructor(response: ServerResponse, parts: SlowReaderParts) {
    this.#response = response;
    this.#parts = parts;
    this.#pace = new ReaderPace(parts.stallMs);
  }

  /** Something waits for the client from now on. */
  block(): void {
    this.#pace.block(this.#parts.clock.monotonic());
    this.#waits++;
    this.#lookLater();
  }

  /** All that waited has gone to the kernel. */
  unblock(): void {
    this.#cancel();
    this.#pace.unblock();
  }

  /** Nothing waits for the client. */
  rest(): void {
    this.#pace.rest();
  }

  #lookLater(): void {
    const { clock, stallMs } = this.#parts;
    this.#cancel = clock.after(stallMs / LOOKS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const wait = this.#waits;
    const now = this.#parts.clock.monotonic();
    const queues = await readSendQueues();
    const { socket } = this.#response;
    // What was written since the queues were read is not in them, and would count as taken. A new wait has its own look.
    if (!socket || !this.#pace.isBlocked || wait !== this.#waits) return;
    const taken = socket.bytesWritten - socket.writableLength - queues.bytesOf(socket);
    if (this.#pace.keepsUp(taken, now)) this.#lookLater();
    else cutOff(this.#response);
  }
}
