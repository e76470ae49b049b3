import type { Clock } from '../../runtime/clock.ts';
import type { Exchange } from '../exchange.ts';
import type { HttpMetrics, Rejection } from '../metrics.ts';
import { hasBody } from './answer.ts';
import { bodyTooLarge, encodedBody, tooSlow } from './refusals.ts';

/** Reads request bodies within their limits. */
export interface BodyReader {
  /**
   * The whole body; empty if there is none. Rejects with 413 above `maxBytes` (before reading if the length is declared), 408 if it
   * does not arrive in time, 415 if it is compressed, 400 if it is malformed.
   */
  read(exchange: Exchange, maxBytes: number): Promise<Buffer>;
}

interface BodyReaderParts {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly metrics: HttpMetrics;
}

export function createBodyReader({ clock, timeoutMs, metrics }: BodyReaderParts): BodyReader {
  return {
    read: async (exchange, maxBytes) => {
      if (!hasBody(exchange)) return Buffer.alloc(0);
      const { headers } = exchange.request;
      if (headers['content-encoding'] !== undefined) throw encodedBody();
      if (Number(headers['content-length'] ?? 0) > maxBytes) {
        metrics.rejected('body_size');
        throw bodyTooLarge(maxBytes);
      }
      // The client may wait for a 100 before it sends the body. HTTP/1.0 has no interim answers (RFC 9110 15.2).
      if (headers.expect !== undefined && exchange.request.httpVersion === '1.1') exchange.response.writeContinue();
      return collect(exchange, { maxBytes, clock, timeoutMs, metrics });
    },
  };
}

function collect(exchange: Exchange, parts: BodyReaderParts & { readonly maxBytes: number }): Promise<Buffer> {
  const { request } = exchange;
  const { maxBytes, timeoutMs, metrics } = parts;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (conclude: () => void): void => {
      cancel();
      request.off('data', take).off('end', end).off('error', fail).off('close', fail);
      conclude();
    };
    const refuse = (rule: Rejection, error: Error): void => {
      metrics.rejected(rule);
      settle(() => reject(error));
    };
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > maxBytes) refuse('body_size', bodyTooLarge(maxBytes));
      else chunks.push(chunk);
    };
    const end = (): void => settle(() => resolve(Buffer.concat(chunks)));
    // `error` may be the parser's refusal of a malformed chunk. A client that has gone gets no answer.
    const fail = (error?: Error): void => settle(() => reject(error ?? new Error('the client went away')));
    const cancel = parts.clock.after(timeoutMs, () =>
      refuse('body_time', tooSlow(`the request body did not arrive within ${timeoutMs / 1_000} s`)),
    );
    request.on('data', take).once('end', end).once('error', fail).once('close', fail);
  });
}
