import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Exchange } from '../../src/http/exchange.ts';

interface Asked {
  readonly method?: string;
  readonly rawTarget?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly source?: string;
  /** Absent if the client left before the answer began. */
  readonly status?: number;
  /** Whether the client received the whole answer. */
  readonly whole?: boolean;
}

/** A request and its answer without a connection. The test sets their properties; `end` ends the exchange. */
export function fakeExchange({
  method = 'GET',
  rawTarget = '/',
  headers = {},
  source = '',
  status,
  whole = true,
}: Asked = {}) {
  const answer = { headersSent: status !== undefined, statusCode: status ?? 200, writableFinished: whole };
  const response = Object.assign(new EventEmitter(), answer);
  const exchange = new Exchange({
    request: { method, headers } as unknown as IncomingMessage,
    response: response as unknown as ServerResponse,
    rawTarget,
    requestId: 'r-1',
    startedAt: 0,
    source,
    corsHeaders: [],
  });
  return { exchange, end: () => response.emit('close') };
}
