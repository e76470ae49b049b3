import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is known when a request begins. */
export interface ExchangeStart {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request target as sent. */
  readonly rawTarget: string;
  /** The id in the answer and in the log: the caller's own if it is harmless, else ours. */
  readonly requestId: string;
  /** Our own id, if `requestId` is the caller's. It distinguishes requests with the same caller's id. */
  readonly ownRequestId?: string | undefined;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** The caller's normalised address. */
  readonly source: string;
  /** The caller's full address. Default: `source`. */
  readonly address?: string;
  /** Each name, followed by its value. */
  readonly corsHeaders: readonly string[];
  /** The connection, if the request may upgrade it to another protocol. */
  readonly upgrade?: Taken | undefined;
}

/** A connection that Node no longer reads as HTTP. The answer to its last request is still written to it. */
export interface Taken {
  readonly socket: Socket;
  /** The bytes that came after the request. */
  readonly head: Buffer;
  /** Resets the connection, so that the client sees that it did not end normally. */
  reset(): void;
}
