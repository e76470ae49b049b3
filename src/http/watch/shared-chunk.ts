import { GzipStream } from '../answer/gzip-stream.ts';
import type { Exchange } from '../chain/exchange.ts';

/** Ends a chunked body that has no trailers (RFC 9112 7.1). */
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const CRLF = '\r\n';

/** Each lives as long as the bytes that it frames: the batches that are kept take twice their own 4 MiB. */
const chunks = new WeakMap<Uint8Array, Buffer>();

/** These bytes as one chunk: the same memory for the same bytes, so that many streams send what was framed once. */
export function sharedChunk(bytes: Uint8Array): Buffer {
  const known = chunks.get(bytes);
  if (known) return known;
  const chunk = Buffer.concat([Buffer.from(bytes.length.toString(16) + CRLF), bytes, Buffer.from(CRLF)]);
  chunks.set(bytes, chunk);
  return chunk;
}

/**
 * The body of an answer whose head was sent and said nothing of a length. Node would frame each piece for each response: four
 * pieces to be gathered by the kernel in the place of one, and half of the time that a write takes. Everything else, what
 * waits, `drain` and the end, is the response's own as before. It is compressed as `exchange.coding` says, and counted there.
 */
export class StreamedBody {
  readonly #exchange: Exchange;
  /** Not for HTTP/1.0, whose bodies end with their connection. */
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

  /** Whether there is room for more; otherwise the response says `drain` when there is. Never empty: that would be the end. */
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
