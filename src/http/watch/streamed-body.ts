import type { Exchange } from '../exchange.ts';
import { GzipStream } from './gzip-stream.ts';

/** Ends a chunked body that has no trailers (RFC 9112 7.1). */
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const CRLF = '\r\n';

/** The framed chunks. Each is kept for as long as its bytes, so the 8 MiB of events that watches keep take 16 MiB with their chunks. */
const chunks = new WeakMap<Uint8Array, Buffer>();

/** Frames the bytes as one chunk. The same bytes give the same chunk, so that bytes that many streams send are framed once. */
export function sharedChunk(bytes: Uint8Array): Buffer {
  const known = chunks.get(bytes);
  if (known) return known;
  const chunk = Buffer.concat([Buffer.from(bytes.length.toString(16) + CRLF), bytes, Buffer.from(CRLF)]);
  chunks.set(bytes, chunk);
  return chunk;
}

/**
 * The body of an answer whose head was sent without a length. It frames the chunks itself, because Node would frame each piece again
 * for each response. The kernel would then have to gather four pieces instead of one, which takes half of the time of a write. The
 * response still does the buffering, the `drain` event and the end. The body is compressed with `exchange.coding`, and its bytes are
 * counted in `exchange.bodyBytes`.
 */
export class StreamedBody {
  readonly #exchange: Exchange;
  /** Whether the body is chunked; not with HTTP/1.0, where the end of the connection ends the body. */
  readonly #isChunked: boolean;
  readonly #gzip: GzipStream | undefined;

  constructor(exchange: Exchange) {
    const { response, coding } = exchange;
    this.#exchange = exchange;
    this.#isChunked = response.chunkedEncoding;
    response.chunkedEncoding = false; // from here on Node sends the bytes as they are
    this.#gzip = coding === 'gzip' ? new GzipStream() : undefined;
    if (this.#gzip) this.#send(this.#gzip.head);
  }

  /**
   * Returns whether there is room for more. If not, the response emits `drain` later. `bytes` must not be empty, because an empty
   * chunk ends the body.
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
