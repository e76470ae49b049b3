import { passedHeaders } from '../../gateway/response-headers.ts';
import type { AnswerWriter } from '../answer/answer.ts';
import type { SlowReader } from '../answer/slow-reader.ts';
import type { Exchange } from '../exchange.ts';

/**
 * The most bytes of an answer that are gathered, in bytes: a quarter of what Node lets a response hold (`highWaterMark`). If a response were
 * that full while it is corked, over TLS its `drain` might never come, and the answer would stand still.
 */
const GATHERED_BYTES = 16 * 1024;

interface RelayParts {
  readonly writer: AnswerWriter;
  /** Cuts off a client that stops reading; absent if a client may pause for any time. */
  readonly reader?: SlowReader | undefined;
  /** Whether the headers are sent at once and not with the first bytes of the body. */
  readonly isStream: boolean;
  onStart(): void;
  onBytes(bytes: number): void;
}

/** Passes the cluster's answer to the client: status, allowed headers and unchanged bytes, as fast as the client reads. */
export class Relay {
  readonly #exchange: Exchange;
  readonly #parts: RelayParts;
  readonly #abort: () => void;
  #isUnusable = false;
  #isEnded = false;
  #isGathering = false;

  /** `abort` ends the call at the cluster. */
  constructor(exchange: Exchange, abort: () => void, parts: RelayParts) {
    this.#exchange = exchange;
    this.#abort = abort;
    this.#parts = parts;
  }

  /** Whether the answer has a header that cannot be sent: then nothing of the answer was sent. */
  get isUnusable(): boolean {
    return this.#isUnusable;
  }

  start(status: number, headers: readonly string[]): void {
    const passed = passedHeaders(headers);
    if (this.#isEnded) return;
    if (!passed) {
      this.#isUnusable = true;
      this.#abort();
      return;
    }
    this.#parts.onStart();
    if (!this.#parts.isStream) this.#gather();
    this.#parts.writer.relay(this.#exchange, status, passed, this.#parts.isStream);
  }

  data(chunk: Buffer): Promise<void> | undefined {
    const { response } = this.#exchange;
    if (this.#isEnded || this.#isUnusable || response.destroyed) return undefined;
    this.#exchange.bodyBytes += chunk.length;
    this.#parts.onBytes(chunk.length);
    const { reader, isStream } = this.#parts;
    if (this.#exchange.bodyBytes > GATHERED_BYTES) this.#flush();
    else if (!isStream) this.#gather();
    if (response.write(chunk)) return undefined;
    reader?.block();
    return new Promise((resolve) => {
      response.once('drain', () => {
        reader?.unblock();
        resolve();
      });
    });
  }

  /** Sends the cluster's 101 to the client. After that the connection is no longer HTTP. */
  switchTo(headers: readonly string[], protocol: string): void {
    this.#parts.onStart();
    this.#isEnded = true;
    this.#parts.writer.switchProtocols(this.#exchange, passedHeaders(headers) ?? [], protocol);
  }

  /** Ends the answer to the client: the cluster's answer is complete, or we end it here. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#parts.writer.finish(this.#exchange);
    this.#flush();
    if (this.#exchange.response.writableLength > 0) this.#parts.reader?.block();
  }

  /** Sends what has been gathered. */
  readonly #flush = (): void => {
    if (!this.#isGathering) return;
    this.#isGathering = false;
    // The end of an answer sends everything by itself.
    if (!this.#exchange.response.writableEnded) this.#exchange.response.uncork();
  };

  /**
   * Gathers what is written of a short answer in this turn of the event loop, and sends it at the end of the turn. The API server sends an object of a few
   * kB in three pieces, which usually arrive together, and a write for each would cost a tenth of the whole call. An answer that breaks
   * off is sent as far as it has come, because the close of a connection is noticed in a later phase of the event loop.
   */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.#exchange.response.cork();
    setImmediate(this.#flush);
  }
}
