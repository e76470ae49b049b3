import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { normaliseAddress } from '../../runtime/source-address.ts';
import { createAccessLog } from '../access-log.ts';
import type { Cors } from '../answer/cors.ts';
import { Exchange } from '../exchange.ts';
import type { Taken } from '../exchange-start.ts';
import type { HttpMetrics } from '../metrics.ts';

/** The dependencies of exchanges, of their metrics and of their log lines. */
export interface Observation {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  readonly cors: Cors;
  /** The full address of a request's caller. */
  addressOf(request: IncomingMessage): string;
}

/** A client's request id is kept if it is harmless in a header and in a log. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Creates exchanges. Each gets its id and start time; its log line and its metrics are written when it ends. */
export function createBegin({
  clock,
  random,
  logger,
  metrics,
  cors,
  addressOf,
}: Observation): (request: IncomingMessage, response: ServerResponse, upgrade?: Taken) => Exchange {
  const log = createAccessLog(logger);
  const nextId = createRequestIds(random);
  return (request, response, upgrade) => {
    const sent = request.headers['x-request-id'];
    const isKept = typeof sent === 'string' && REQUEST_ID.test(sent);
    const ownId = nextId();
    const address = addressOf(request);
    const exchange = new Exchange({
      request,
      response,
      rawTarget: request.url ?? '',
      ...(isKept ? { requestId: sent, ownRequestId: ownId } : { requestId: ownId }),
      startedAt: clock.monotonic(),
      source: normaliseAddress(address),
      address,
      corsHeaders: cors.headers(request),
      upgrade,
    });
    exchange.atEnd(() => {
      const endedAt = clock.monotonic();
      metrics.answered(exchange, ((exchange.streamedAt ?? endedAt) - exchange.startedAt) / 1_000);
      log(exchange, endedAt - exchange.startedAt);
    });
    return exchange;
  };
}

/** 8 bytes are 16 hex digits. */
const ID_BYTES = 8;
/** Random bytes for 512 ids are read at once, because a system call for each id would cost more than the rest of the step. */
const POOL_BYTES = 512 * ID_BYTES;

/** Makes request ids of 16 hex digits. */
export function createRequestIds(random: Random): () => string {
  let pool: Buffer = Buffer.alloc(0);
  let next = 0;
  return () => {
    if (next >= pool.length) {
      pool = random.bytes(POOL_BYTES);
      next = 0;
    }
    next += ID_BYTES;
    return pool.toString('hex', next - ID_BYTES, next);
  };
}
