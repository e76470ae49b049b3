import type { ServerResponse } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';
import type { Exchange } from '../exchange.ts';

/** The headers of one answer; the writer adds those that every answer has. A list is sent as one header for each of its values. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** A body in pieces, which are written in this order without being copied; `length` is their sum in bytes. */
export interface AnswerBody {
  readonly pieces: readonly Uint8Array[];
  readonly length: number;
}

/** The cache headers of N-57 (docs/contract/tokens.md): nobody keeps the answer. */
export const UNCACHED: AnswerHeaders = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

/**
 * What a browser keeps of us goes with the session (W-05), where it reaches us over https: a shared computer must not keep what somebody has
 * looked at. Not `cookies`: browsers would remove those of all hosts of the registered domain, and sign the person out of other programs.
 */
export const CLEARED: AnswerHeaders = { 'Clear-Site-Data': '"cache", "storage"' };

export const NO_BODY: AnswerBody = { pieces: [], length: 0 };

export const wholeBody = (bytes: Uint8Array): AnswerBody => ({ pieces: [bytes], length: bytes.byteLength });

const CONTENT_POLICY = 'Content-Security-Policy';

/** The security headers (A-48, docs/promises.md), in the flat form that `writeHead` accepts without building an object. */
export const SECURITY_HEADERS: readonly string[] = [
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'DENY',
  'Referrer-Policy',
  'no-referrer',
  CONTENT_POLICY,
  "default-src 'none'; frame-ancestors 'none'",
];
const WITHOUT_CONTENT_POLICY = SECURITY_HEADERS.length - 2;

/** Makes nginx pass a stream on without buffering (https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering). */
const UNBUFFERED: readonly string[] = ['X-Accel-Buffering', 'no'];

/**
 * After a refusal, we read and drop the rest of the request body, up to this size. Otherwise the client could get a reset instead of the
 * refusal.
 */
const LINGER_BYTES = 256 * 1024;
const LINGER_MS = 1_000;

/** Writes all answers: the common headers, `Content-Length`, and the body as fast as the client reads it. */
export class AnswerWriter {
  readonly #clock: Clock;
  readonly #sendTimeoutMs: number;
  readonly #outbox: Outbox;

  /** `sendTimeoutMs`: a client that reads nothing of its answer for this long is cut off. */
  constructor(clock: Clock, sendTimeoutMs: number) {
    this.#clock = clock;
    this.#sendTimeoutMs = sendTimeoutMs;
    this.#outbox = new Outbox(sendTimeoutMs);
  }

  /** Sends the answer. A HEAD gets only the headers; a 204 or 304 has neither body nor length. */
  send(exchange: Exchange, status: number, headers: AnswerHeaders, body: AnswerBody): void {
    const { request, response } = exchange;
    const bodiless = status === 204 || status === 304;
    const unread = hasBody(exchange) && !request.readableEnded;
    const block = headerBlock(exchange, headers);
    if (unread && headers['Connection'] === undefined) block.push('Connection', 'close');
    if (!bodiless) block.push('Content-Length', String(body.length));
    response.writeHead(status, block);
    exchange.answered();
    const sent = request.method === 'HEAD' || bodiless ? NO_BODY : body;
    exchange.bodyBytes = sent.length;
    if (unread && !request.complete && request.headers.expect === undefined) this.#linger(exchange, sent.pieces);
    else this.#outbox.add(response, sent);
    exchange.leaveSeat();
  }

  /** Begins an answer of unknown length. The caller writes the body, watches for stalls, and ends the answer. */
  begin(exchange: Exchange, headers: AnswerHeaders): void {
    exchange.response.writeHead(200, headerBlock(exchange, headers));
    exchange.answered();
    exchange.response.flushHeaders();
    exchange.streamedAt = this.#clock.monotonic();
    exchange.leaveSeat();
  }

  /**
   * Begins to pass on the answer of another server, with its status, its headers (each name followed by its value) and ours. With
   * `isStream` the headers are sent at once, before any bytes of the body. The caller writes the body and calls `finish`.
   */
  relay(exchange: Exchange, status: number, headers: readonly string[], isStream: boolean): void {
    const { response } = exchange;
    const block = headerBlock(exchange, {});
    for (const text of headers) block.push(text);
    if (isUnread(exchange)) block.push('Connection', 'close');
    if (isStream) block.push(...UNBUFFERED);
    response.writeHead(status, block);
    exchange.answered();
    if (!isStream) return;
    response.flushHeaders();
    exchange.streamedAt = this.#clock.monotonic();
  }

  /** Answers 101 (RFC 9110 7.8): after it, the connection has the other protocol. */
  switchProtocols(exchange: Exchange, headers: readonly string[], protocol: string): void {
    const { response } = exchange;
    exchange.streamedAt = this.#clock.monotonic();
    response.writeHead(101, [
      ...headers,
      'X-Request-Id',
      exchange.requestId,
      'Connection',
      'Upgrade',
      'Upgrade',
      protocol,
    ]);
    exchange.answered();
    response.end();
  }

  /** Ends an answer that was begun with `relay`. */
  finish(exchange: Exchange): void {
    if (isUnread(exchange)) this.#linger(exchange, []);
    else exchange.response.end();
  }

  /**
   * Answers a request whose body is not needed: sends the answer, reads and drops the rest of the body within limits, then closes the
   * connection.
   */
  #linger({ request, response }: Exchange, pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) response.write(piece);
    if (pieces.length === 0) response.flushHeaders();
    cutOffWhenStalled(response, this.#sendTimeoutMs);
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
  // Pushes cost half of what one literal with spreads costs. A page brings its own policy, for its styles and its form.
  const block = SECURITY_HEADERS.slice(0, CONTENT_POLICY in headers ? WITHOUT_CONTENT_POLICY : SECURITY_HEADERS.length);
  block.push('X-Request-Id', exchange.requestId);
  if (exchange.corsHeaders.length > 0) block.push(...exchange.corsHeaders);
  if (isEncrypted(exchange)) block.push('Strict-Transport-Security', 'max-age=31536000');
  for (const name in headers) {
    const value = headers[name] as string | readonly string[];
    if (typeof value === 'string') block.push(name, value);
    else for (const one of value) block.push(name, one);
  }
  return block;
}

/** Whether the request has a body, which it announces by `Transfer-Encoding` or `Content-Length` (RFC 9112 6.3). */
export function hasBody(exchange: Exchange): boolean {
  const { headers } = exchange.request;
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && length !== '0';
}

const isUnread = (exchange: Exchange): boolean => hasBody(exchange) && !exchange.request.complete;

const isEncrypted = (exchange: Exchange): boolean => 'encrypted' in exchange.request.socket;

/**
 * The most bytes in one vectored write: 16 MiB, a list of 1,000 nodes. All readers of a list's version share the bytes that wait for
 * slow readers.
 */
const BATCH_BYTES = 16 * 1024 * 1024;

/**
 * At most this many answers are written together. More would save nothing further, and the first would wait until the last is made.
 */
const MOST_WAITING = 64;

interface Outgoing {
  readonly response: ServerResponse;
  readonly pieces: readonly Uint8Array[];
}

/**
 * Writes answers to their sockets together, after all requests that were ready in this turn of the event loop have been handled.
 * Handling all first and then writing all keeps the code of each phase in the processor's caches, and wakes a client with several
 * connections once. Short lists cost a fifth less than with a write for each answer (docs/performance.md). At most 64 answers or
 * 16 MiB wait this way.
 */
export class Outbox {
  readonly #sendTimeoutMs: number;
  #outgoing: Outgoing[] = [];
  #bytes = 0;

  /** `sendTimeoutMs`: a client that reads nothing of its answer for this long is cut off. */
  constructor(sendTimeoutMs: number) {
    this.#sendTimeoutMs = sendTimeoutMs;
  }

  /**
   * Sends the pieces in this order, without copying them, and ends the answer. Its head must have been written, with the length.
   */
  add(response: ServerResponse, { pieces, length }: AnswerBody): void {
    if (this.#outgoing.length === 0) setImmediate(this.#send);
    this.#outgoing.push({ response, pieces });
    this.#bytes += length;
    if (this.#outgoing.length >= MOST_WAITING || this.#bytes >= BATCH_BYTES) this.#send();
  }

  readonly #send = (): void => {
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    this.#bytes = 0;
    for (const { response, pieces } of outgoing) {
      writePieces(response, pieces, 0);
      cutOffWhenStalled(response, this.#sendTimeoutMs);
    }
  };
}

/**
 * If the kernel has not accepted the whole answer at once, Node ends the socket when nothing is sent or received for `sendTimeoutMs`.
 * `StallDetector` explains why that must be minutes. It cannot be used here, because one write may have 16 MiB, and only Node's own
 * timer notices that a part of a write was sent.
 */
function cutOffWhenStalled(response: ServerResponse, sendTimeoutMs: number): void {
  if (response.socket?.writableLength !== 0) response.setTimeout(sendTimeoutMs);
}

/** Writes one batch at a time, the next one when the socket has drained. */
function writePieces(response: ServerResponse, pieces: readonly Uint8Array[], from: number): void {
  let next = from;
  response.cork();
  for (let batch = 0; next < pieces.length - 1 && batch < BATCH_BYTES; next++) {
    const piece = pieces[next] as Uint8Array;
    batch += piece.byteLength;
    response.write(piece);
  }
  if (next >= pieces.length - 1) {
    response.end(pieces[next]);
    response.uncork();
    return;
  }
  response.uncork();
  const proceed = (): void => writePieces(response, pieces, next);
  if (response.writableNeedDrain) response.once('drain', proceed);
  else setImmediate(() => response.destroyed || proceed());
}
