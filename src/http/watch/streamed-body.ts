import type { Exchange } from '../exchange.ts';
import { GzipStream } from './gzip-stream.ts';

/** Ends a chunked body that has no trailers (RFC 9112 7.1). */
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const CRLF = '\r\n';

/** An entry lives as long as the bytes that it frames, so the batches and parts that are kept take twice their own 8 MiB. */
const chunks = new WeakMap<Uint8Array, Buffer>();

/** Frames the bytes as one chunk. The same bytes give the same chunk, so that what many streams send is framed once. */
export function sharedChunk(bytes: Uint8Array): Buffer {
  const known = chunks.get(bytes);
  if (known) return known;
  const chunk = Buffer.concat([Buffer.from(bytes.length.toString(16) + CRLF), bytes, Buffer.from(CRLF)]);
  chunks.set(bytes, chunk);
  return chunk;
}

/**
 * The body of an answer whose head was sent without a length. It frames the chunks itself. Node would frame each piece
 * again for each response: the kernel would gather four pieces instead of one, which is half of the time of a write.
 * Buffering, `drain` and the end stay with the response. The body is compressed as `exchange.coding` says, and counted
 * in `exchange.bodyBytes`.
 */
export class StreamedBody {
  readonly #exchange: Exchange;
  /** Whether chunks are used: not for HTTP/1.0, whose bodies end with their connection. */
  readonly #isChunked: boolean;
  readonly #gzip: GzipStream | undefined;

  constructor(exchange: Exchange) {
    const { response, coding } = exchange;
    this.#exchange = exchange;
    this.#isChunked = response.chunkedEncoding;
    response.chunkedEncoding = false; // from here on what is written is sent as it is
    this.#gzip = coding === 'gzip' ? new GzipStream() : undefined;
    if (this.#gzip) this.#send(this.#gzip.head);
  }

  /**
   * Returns whether there is room for more. If not, the response emits `drain` when there is. `bytes` must not be
   * empty, because an empty chunk is the end.
   */
  write(bytes: Uint8Array): boolean {
    return this.#send(this.#gzip ? this.#gzip.add(bytes) : bytes);
  }

  end(bytes: Uint8Array | undefined): void {
    if (bytes) this.write(bytes);
    if (this.#gzip) this.#send(this.#gzip.end());
    this.#exchange.response.end(this.#isChunked ? LAST_CHUNK : undefined);
  }

  #send(bytes: Uint8Array): boolean {
    this.#exchange.bodyBytes += bytes.length;
    return this.#exchange.response.write(this.#isChunked ? sharedChunk(bytes) : bytes);
  }
}
