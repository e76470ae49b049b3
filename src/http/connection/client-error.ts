import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { StatusError } from '../../status-error.ts';
import { SECURITY_HEADERS } from '../answer/answer.ts';
import { toErrorAnswer } from '../answer/error-body.ts';
import { bodyTooLarge, headerBytesExceeded, headerLinesExceeded, malformed, tooSlow } from '../answer/refusals.ts';
import type { HttpLimits } from '../limits/http-limits.ts';
import type { Rejection } from '../metrics.ts';
import type { InFlight } from './pipeline.ts';

/** The refusal of a request that Node's parser or timer rejected, and the rule that it broke, for the metric. */
export interface ParserRefusal {
  readonly rule: Rejection;
  readonly error: StatusError;
}

/** Node's error code for a request that it could not read, and the number of bytes read from its connection. */
interface ParserFault {
  readonly code: string | undefined;
  readonly bytesRead: number;
}

/** `mayBeCommand`: the port serves paths of the cluster, whose request lines may be long. */
export function toParserRefusal(
  { code, bytesRead }: ParserFault,
  limits: HttpLimits,
  mayBeCommand: boolean,
): ParserRefusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW': {
      // The parser has one code for too many bytes and too many lines. If fewer bytes were read than the limit, there were too many lines.
      const limit = headerBytesOf(limits, mayBeCommand);
      if (bytesRead < limit) return { rule: 'headers', error: headerLinesExceeded(limits.maxHeaders) };
      return { rule: 'header_bytes', error: headerBytesExceeded(limit, mayBeCommand) };
    }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { rule: 'header_time', error: tooSlow('the request did not arrive in time') };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { rule: 'chunk_extension', error: bodyTooLarge(limits.maxHeaderBytesElsewhere) };
    default:
      return { rule: 'parser', error: malformed('it is not well-formed HTTP/1.1', { Connection: 'close' }) };
  }
}

/**
 * The header bytes that Node's parser accepts on a port. The parser has one limit for all paths; the guard applies the lower limit
 * of the other paths.
 */
export const headerBytesOf = (
  { maxHeaderBytes, maxHeaderBytesElsewhere }: HttpLimits,
  servesCluster: boolean,
): number => (servesCluster ? maxHeaderBytes : maxHeaderBytesElsewhere);

/**
 * Passes the error to the request whose body is being read, so that the chain answers it. Returns whether there was such a
 * request.
 */
export function refuseBody(current: InFlight | undefined, refusal: StatusError): boolean {
  if (!current || current.request.complete || current.response.headersSent) return false;
  if (current.request.listenerCount('error') === 0) return false; // no step reads the body
  return current.request.emit('error', refusal);
}

/**
 * Writes the answer to the socket itself, because there is no request object for bytes that the parser refused. All earlier answers
 * must be complete. Writes nothing and returns false if the client has gone, or if an earlier answer closes the connection.
 */
export function answerParserRefusal(socket: Socket, refusal: StatusError, requestId: string): boolean {
  if (!socket.writable) {
    socket.destroySoon();
    return false;
  }
  socket.end(rawAnswer(refusal, requestId));
  // A peer that goes on sending must not keep the connection open.
  socket.once('finish', () => socket.destroy());
  return true;
}

function rawAnswer(refusal: StatusError, requestId: string): string {
  const { status, headers, body } = toErrorAnswer(refusal, requestId, false);
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, `X-Request-Id: ${requestId}`];
  for (let index = 0; index < SECURITY_HEADERS.length; index += 2) {
    lines.push(`${SECURITY_HEADERS[index]}: ${SECURITY_HEADERS[index + 1]}`);
  }
  for (const [name, value] of Object.entries({ ...headers, Connection: 'close' })) lines.push(`${name}: ${value}`);
  lines.push(`Content-Length: ${body.length}`, '', body.toString());
  return lines.join('\r\n');
}
