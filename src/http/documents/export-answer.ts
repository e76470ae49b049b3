import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { DocumentQuery } from '../../documents/document-query.ts';
import type { DocumentReader } from '../../documents/document-reader.ts';
import { tooManyLargeAnswers } from '../../documents/refusals.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ByteBudget } from '../../runtime/limits/byte-budget.ts';
import { chooseCoding } from '../answer/accept.ts';
import type { AnswerWriter } from '../answer/answer.ts';
import { SlowReader } from '../answer/slow-reader.ts';
import type { Exchange } from '../exchange.ts';

/** The parts that serve the queries of one kind of documents. */
export interface ServedDocuments {
  readonly reader: DocumentReader;
  /** What callers should know about every answer: a public sentence for the header `Warning`. */
  readonly warning?: string;
  /** Called for each export that was broken off after it had begun. */
  onCut(): void;
  /** Called for each query that has begun. */
  onRead?(exchange: Exchange, query: DocumentQuery): void;
}

const HEADERS = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Content-Disposition': 'attachment',
  'Cache-Control': 'no-store',
  Vary: 'Accept-Encoding',
};

/** The size of a write. We notice that a slow client reads only when the kernel has accepted a whole write (`StallDetector`). */
const PIECE_BYTES = 64 * 1024;

interface ExportParts {
  readonly served: ServedDocuments;
  readonly writer: AnswerWriter;
  readonly clock: Clock;
  /** A client that reads nothing of the waiting bytes for this long is cut off. */
  readonly sendTimeoutMs: number;
  /** Bounds the bytes of all answers that clients have not read yet. */
  readonly unsent: ByteBudget;
}

/**
 * Sends the messages while they arrive from the store, as fast as the client reads. A failure before the first message is answered
 * with its status. A later failure cuts the connection, so that the client does not take a part for the whole. A HEAD sends the
 * store no query.
 */
export async function sendExport(exchange: Exchange, query: DocumentQuery, parts: ExportParts): Promise<void> {
  const { signedIn, request, response, signal } = exchange;
  const { served, writer } = parts;
  exchange.coding = chooseCoding(request.headers['accept-encoding'] as string | undefined);
  const headers = exchange.coding === 'gzip' ? { ...HEADERS, 'Content-Encoding': 'gzip' } : HEADERS;
  if (request.method === 'HEAD') {
    writer.begin(exchange, headers);
    return void response.end();
  }
  const texts = served.reader.texts(signedIn.identity, query, signal);
  const body = new ExportBody(exchange, parts);
  const begin = (): void => {
    if (!response.headersSent) writer.begin(exchange, headers);
  };
  try {
    for await (const text of texts) await body.write(text, begin);
    begin();
    await body.end();
  } catch (error) {
    if (response.headersSent && !response.destroyed) served.onCut();
    throw error;
  } finally {
    body.leave();
  }
}

/** The body of an export, compressed if the client accepts gzip. */
class ExportBody {
  readonly #exchange: Exchange;
  readonly #out: Writable;
  readonly #reader: SlowReader;
  readonly #unsent: ByteBudget;

  constructor(
    exchange: Exchange,
    { clock, sendTimeoutMs, unsent }: Pick<ExportParts, 'clock' | 'sendTimeoutMs' | 'unsent'>,
  ) {
    const { response, coding } = exchange;
    this.#exchange = exchange;
    this.#reader = new SlowReader(response, { clock, sendTimeoutMs });
    this.#unsent = unsent;
    this.#out = coding === 'gzip' ? this.#compressed() : response;
  }

  /** Calls `begin` before it writes. Resolves when there is room for more. Rejects when the client has gone, or `unsent` is used up. */
  async write(text: string, begin: () => void): Promise<void> {
    const bytes = Buffer.from(text);
    if (!this.#unsent.take(bytes.length)) throw tooManyLargeAnswers();
    try {
      begin();
      if (this.#out === this.#exchange.response) this.#exchange.bodyBytes += bytes.length;
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        if (!this.#out.write(bytes.subarray(at, at + PIECE_BYTES))) await this.#waitFor('drain');
      }
    } finally {
      this.#unsent.give(bytes.length);
    }
  }

  async end(): Promise<void> {
    this.#out.end();
    const { response } = this.#exchange;
    if (!response.writableFinished) await this.#waitFor('finish');
  }

  leave(): void {
    this.#reader.unblock();
    if (this.#out !== this.#exchange.response) this.#out.destroy();
  }

  #compressed(): Writable {
    const gzip = createGzip();
    gzip.on('data', (chunk: Buffer) => {
      this.#exchange.bodyBytes += chunk.length;
    });
    gzip.pipe(this.#exchange.response);
    return gzip;
  }

  async #waitFor(event: 'drain' | 'finish'): Promise<void> {
    const { response } = this.#exchange;
    if (response.destroyed) throw new Error('the client has left');
    const from = event === 'drain' ? this.#out : response;
    const left = new AbortController();
    const leave = (): void => left.abort(new Error('the client has left'));
    response.once('close', leave);
    this.#reader.block();
    try {
      await once(from, event, { signal: left.signal });
    } finally {
      this.#reader.unblock();
      response.off('close', leave);
    }
  }
}
