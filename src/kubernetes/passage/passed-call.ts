import type { Readable } from 'node:stream';
import type { RefusedImpersonation } from '../status.ts';

/** One call of a user, as we send it to the API server. */
export interface PassedCall {
  readonly method: string;
  /** Path and query, sent unchanged after the path of the configured server. */
  readonly target: string;
  /** Names and values, alternating. Without `Host`, `Authorization`, `Connection` and framing, which are set here. */
  readonly headers: readonly string[];
  readonly body?: PassedBody | undefined;
  /** The answer may take as long as it likes, before it begins and while it comes. */
  readonly isLongRunning: boolean;
  /** What it counts as in the metrics of our requests to the cluster. Default: `gateway`. */
  readonly purpose?: 'permitted' | undefined;
}

/** What the client sends, read at the pace of the API server. */
export interface PassedBody {
  readonly stream: Readable;
  /** The length in bytes; `undefined` when the body comes in chunks. */
  readonly length: number | undefined;
}

/** Receives the answer. Its methods must not throw. */
export interface PassedAnswer {
  /** Headers are names and values, alternating, as received. Called at most once. */
  start(status: number, headers: readonly string[]): void;
  /** Nothing more is read until a returned promise has resolved. */
  data(chunk: Buffer): Promise<void> | undefined;
}

/** Why a call got no answer that may be passed on. */
export type PassageFault =
  /** The connection was refused or reset, the name is unknown, the certificate is not trusted, or the answer cannot be parsed. */
  | 'unreachable'
  /** No connection within 5 s, or no answer within 60 s. */
  | 'timeout'
  /** The API server is known to be away: nothing was sent. */
  | 'away'
  /** All connections are in use: nothing was sent. */
  | 'full'
  /** The API server does not accept our own credential. */
  | 'credential'
  /** Our own account may not impersonate this user. */
  | 'impersonation'
  /** The client has gone. */
  | 'left';

/** A call that was not answered, or not to its end. The message and the cause are for the log. */
export class PassageError extends Error {
  readonly fault: PassageFault;
  /** Set for the fault `impersonation`: whom our account may not impersonate. */
  readonly refused: RefusedImpersonation | undefined;

  constructor(fault: PassageFault, cause?: unknown, refused?: RefusedImpersonation) {
    super(cause instanceof Error ? `${fault}: ${cause.message}` : fault, { cause });
    this.name = 'PassageError';
    this.fault = fault;
    this.refused = refused;
  }
}
