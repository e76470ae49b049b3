import { Readable } from 'node:stream';
import type { Clock } from '../../runtime/clock.ts';
import { tooSlow } from '../answer/refusals.ts';
import type { Exchange } from '../exchange.ts';

interface ClientBodyParts {
  readonly clock: Clock;
  /** The longest time in which the client may send nothing while we read. */
  readonly stallMs: number;
  /** Called with the length of each piece. */
  onBytes(bytes: number): void;
}

/**
 * The body of a request, read as fast as the cluster takes it. Destroying this stream does not close the client's connection, as
 * destroying the request itself would, so the client still gets an answer. The stream fails with a 408 when the client sends nothing
 * for too long, and with an error when the client disconnects. The first read sends the `100 Continue` that a client may wait for
 * (A-13, docs/promises.md).
 */
export class ClientBody extends Readable {
  readonly #exchange: Exchange;
  readonly #parts: ClientBodyParts;
  #isAsked = false;
  #cancel = (): void => undefined;

  constructor(exchange: Exchange, parts: ClientBodyParts) {
    super();
    this.#exchange = exchange;
    this.#parts = parts;
    // Listens from now on and not from the first read: otherwise we would wait for a client that left before the first read.
    exchange.request.once('error', this.#leave).once('close', this.#leave);
    this.on('error', () => {}); // without a listener an early error would end the process; a later reader still gets the error
  }

  get stream(): Readable {
    return this;
  }

  /** The declared length in bytes; `undefined` when the body comes in chunks. */
  get length(): number | undefined {
    const declared = this.#exchange.request.headers['content-length'];
    return declared === undefined ? undefined : Number(declared);
  }

  override _read(): void {
    const { request, response } = this.#exchange;
    if (!this.#isAsked) {
      this.#isAsked = true;
      if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue();
      request.on('data', this.#take).once('end', this.#end);
    }
    request.resume();
    this.#expect();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#cancel();
    const { request } = this.#exchange;
    request.off('data', this.#take).off('end', this.#end).off('error', this.#leave).off('close', this.#leave);
    request.pause();
    done(error);
  }

  readonly #take = (chunk: Buffer): void => {
    this.#parts.onBytes(chunk.length);
    if (this.push(chunk)) this.#expect();
    else {
      this.#cancel();
      this.#exchange.request.pause();
    }
  };

  /** Called when the whole body has arrived: the rest stays readable here, even after the request object is gone. */
  readonly #end = (): void => {
    this.#cancel();
    this.#exchange.request.off('close', this.#leave);
    this.push(null);
  };

  readonly #leave = (error?: Error): void => {
    this.destroy(error ?? new Error('the client went away'));
  };

  #expect(): void {
    const { clock, stallMs } = this.#parts;
    this.#cancel();
    this.#cancel = clock.after(stallMs, () =>
      this.destroy(tooSlow(`nothing of the request body arrived within ${stallMs / 1_000} s`)),
    );
  }
}
