import type { Clock } from '../../runtime/clock.ts';
import type { Exchange } from '../exchange.ts';
import { type AnswerBody, cutOffWhenStalled, Outbox } from './outbox.ts';

/** An answer's own headers; those that every answer has are added by the writer. */
export type AnswerHeaders = Readonly<Record<string, string>>;

export const NO_BODY: AnswerBody = { pieces: [], length: 0 };

export const wholeBody = (bytes: Uint8Array): AnswerBody => ({ pieces: [bytes], length: bytes.byteLength });

/** A-48, in the flat form that `writeHead` takes without building an object. */
export const SECURITY_HEADERS: readonly string[] = [
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'DENY',
  'Referrer-Policy',
  'no-referrer',
  'Content-Security-Policy',
  "default-src 'none'; frame-ancestors 'none'",
];

/**
 * After a refusal, the rest of the body is read and dropped up to this size, so that the client sees the refusal before
 * a reset.
 */
const LINGER_BYTES = 256 * 1024;
const LINGER_MS = 1_000;

/** Writes every answer: the common headers, `Content-Length`, and the body as fast as the client takes it. */
export class AnswerWriter {
  readonly #clock: Clock;
  readonly #stallMs: number;
  readonly #outbox: Outbox;

  /** `stallMs`: a client that reads nothing of its answer for this long is cut off. */
  constructor(clock: Clock, stallMs: number) {
    this.#clock = clock;
    this.#stallMs = stallMs;
    this.#outbox = new Outbox(stallMs);
  }

  /** Sends the answer. A HEAD gets the headers alone; a 204 or 304 has neither body nor length. */
  send(exchange: Exchange, status: number, headers: AnswerHeaders, body: AnswerBody): void {
    const { request, response } = exchange;
    const bodiless = status === 204 || status === 304;
    const unread = hasBody(exchange) && !request.readableEnded;
    const block = headerBlock(exchange, headers);
    if (unread && headers['Connection'] === undefined) block.push('Connection', 'close');
    if (!bodiless) block.push('Content-Length', String(body.length));
    response.writeHead(status, block);
    const sent = request.method === 'HEAD' || bodiless ? NO_BODY : body;
    exchange.bodyBytes = sent.length;
    if (unread && !request.complete && request.headers.expect === undefined) this.#linger(exchange, sent.pieces);
    else this.#outbox.add(response, sent);
    exchange.leavePlace();
  }

  /** Begins an answer that has no length yet. The caller writes its body, watches for stalls, and ends it. */
  begin(exchange: Exchange, headers: AnswerHeaders): void {
    exchange.response.writeHead(200, headerBlock(exchange, headers));
    exchange.response.flushHeaders();
    exchange.streamedAt = this.#clock.monotonic();
    exchange.leavePlace();
  }

  /**
   * Answers a request whose body is not wanted: sends the answer, reads and drops the rest of the body within bounds,
   * then closes.
   */
  #linger({ request, response }: Exchange, pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) response.write(piece);
    if (pieces.length === 0) response.flushHeaders();
    cutOffWhenStalled(response, this.#stallMs);
    let left = LINGER_BYTES;
    const close = (): void => {
      forget();
      request.off('data', drop).off('end', close).off('close', close);
      response.end();
    };
    const drop = (chunk: Buffer): void => {
      left -= chunk.length;
      if (left < 0) close();
    };
    const forget = this.#clock.after(LINGER_MS, close);
    request.on('data', drop).once('end', close).once('close', close);
  }
}

function headerBlock(exchange: Exchange, headers: AnswerHeaders): string[] {
  const block = SECURITY_HEADERS.slice(); // pushes cost half of what one literal with spreads costs
  block.push('X-Request-Id', exchange.requestId);
  if (exchange.corsHeaders.length > 0) block.push(...exchange.corsHeaders);
  if (isEncrypted(exchange)) block.push('Strict-Transport-Security', 'max-age=31536000');
  for (const name in headers) block.push(name, headers[name] as string);
  return block;
}

/** A request announces a body by `Transfer-Encoding` or `Content-Length` (RFC 9112 6.3). */
export function hasBody(exchange: Exchange): boolean {
  const { headers } = exchange.request;
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && length !== '0';
}

const isEncrypted = (exchange: Exchange): boolean => 'encrypted' in exchange.request.socket;
