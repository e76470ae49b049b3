import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';
import type { AccessLog } from '../access-log.ts';
import type { Cors } from '../answer/cors.ts';
import { Exchange } from '../exchange.ts';
import type { HttpMetrics } from '../metrics.ts';

export interface BeginParts {
  readonly clock: Clock;
  readonly log: AccessLog;
  readonly metrics: HttpMetrics;
  readonly cors: Cors;
  /** A new request id. */
  readonly nextId: () => string;
}

/** A client's own request id is kept when it is harmless in a header and in a log. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Begins an exchange: its id and its timer now, its log line and its metrics when it ends. */
export function begin(request: IncomingMessage, response: ServerResponse, parts: BeginParts): Exchange {
  const { clock, log, metrics } = parts;
  const sent = request.headers['x-request-id'];
  const isKept = typeof sent === 'string' && REQUEST_ID.test(sent);
  const ownId = parts.nextId();
  const exchange = new Exchange({
    request,
    response,
    rawTarget: request.url ?? '',
    ...(isKept ? { requestId: sent, ownRequestId: ownId } : { requestId: ownId }),
    startedAt: clock.monotonic(),
  });
  exchange.corsHeaders = parts.cors.headers(request);
  exchange.atEnd(() => {
    const endedAt = clock.monotonic();
    metrics.answered(exchange, ((exchange.streamedAt ?? endedAt) - exchange.startedAt) / 1_000);
    log(exchange, endedAt - exchange.startedAt);
  });
  return exchange;
}
