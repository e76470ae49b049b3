import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Exchange } from '../../src/http/exchange.ts';

interface Asked {
  readonly method?: string;
  readonly rawTarget?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: the client went before anything was answered. */
  readonly status?: number;
  /** Whether the client took all of it. */
  readonly whole?: boolean;
}

/** A request and its answer without a connection: what is to be known of both is given, `end` says that it is over. */
export function fakeExchange({ method = 'GET', rawTarget = '/', headers = {}, status, whole = true }: Asked = {}) {
  const answer = { headersSent: status !== undefined, statusCode: status ?? 200, writableFinished: whole };
  const response = Object.assign(new EventEmitter(), answer);
  const exchange = new Exchange({
    request: { method, headers } as unknown as IncomingMessage,
    response: response as unknown as ServerResponse,
    rawTarget,
    requestId: 'r-1',
    startedAt: 0,
  });
  return { exchange, end: () => response.emit('close') };
}
