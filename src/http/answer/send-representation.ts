import type { ContentCoding, Representation } from '../../resources/bytes/representation.ts';
import type { Exchange } from '../exchange.ts';
import { chooseCoding } from './accept.ts';
import { type AnswerBody, type AnswerHeaders, type AnswerWriter, NO_BODY } from './answer.ts';

/** Smaller bodies are not compressed, because the headers are longer than what gzip would save. */
const MIN_GZIP_BYTES = 1_024;

export interface RepresentationHeaders {
  readonly contentType: string;
  readonly cacheControl: string;
  /** The age of the data, if the answer should contain it. */
  readonly staleSeconds?: number | undefined;
  /** Further headers of a 200 and of a 304. They follow from what the ETag names. */
  readonly further?: AnswerHeaders | undefined;
  /** Applies the caller's time limit to making a long body. */
  readonly deadline?: BodyDeadline;
}

interface BodyDeadline {
  allowed<T>(work: Promise<T>, exchange: Exchange): Promise<T>;
}

/**
 * Sends a representation in the coding that the caller prefers, or 304 if the caller already has it. Call it after every check that
 * can refuse the request. It returns a promise only if it must first make a long body.
 */
export function sendRepresentation(
  writer: AnswerWriter,
  exchange: Exchange,
  answer: RepresentationHeaders & { readonly representation: Representation },
): void | Promise<void> {
  const { representation, cacheControl, staleSeconds, further } = answer;
  const { headers } = exchange.request;
  const wanted = chooseCoding(headers['accept-encoding'] as string | undefined);
  const coding = representation.identityLength < MIN_GZIP_BYTES ? 'identity' : wanted;
  const etag = representation.etag(coding);
  const fresh = { ETag: etag, 'Cache-Control': cacheControl, Vary: 'Accept-Encoding', ...further };
  const validators = staleSeconds === undefined ? fresh : { ...fresh, ...staleHeaders(staleSeconds) };
  const known = headers['if-none-match'];
  if (known !== undefined && namesTag(known, etag)) {
    writer.send(exchange, 304, validators, NO_BODY);
    return;
  }
  const sent = { ...answer, coding, validators };
  const composed = representation.compose(coding);
  if (composed === undefined) return sendBody(writer, exchange, sent, representation.body(coding));
  const made = answer.deadline?.allowed(composed, exchange) ?? composed;
  return made.then(() => sendBody(writer, exchange, sent, representation.body(coding)));
}

interface Sent {
  readonly contentType: string;
  readonly coding: ContentCoding;
  readonly validators: AnswerHeaders;
}

function sendBody(writer: AnswerWriter, exchange: Exchange, sent: Sent, body: AnswerBody): void {
  const { contentType, coding, validators } = sent;
  exchange.coding = coding;
  const encoded = coding === 'gzip' ? { 'Content-Encoding': 'gzip' } : {};
  writer.send(exchange, 200, { 'Content-Type': contentType, ...encoded, ...validators }, body);
}

/** Whether `If-None-Match` matches the ETag: by weak comparison with each listed tag, or by `*` (RFC 9110 13.1.2). */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((item) => item.trim().replace(/^W\//, '') === etag);
}

const NONE: AnswerHeaders = {};

/**
 * The headers of an answer from old data: `Age` (RFC 9111 5.1) and `Warning: 110` (RFC 7234 5.5.1). RFC 9111 5.5 has removed `Warning`,
 * because no client acted on it; we send it for people who read headers. The code is not 299, because kubectl prints a 299 and client-go
 * logs it, once for each age. `undefined` gives no headers.
 */
export const staleHeaders = (seconds: number | undefined): AnswerHeaders =>
  seconds === undefined ? NONE : { Age: String(seconds), Warning: '110 - "Response is Stale"' };
