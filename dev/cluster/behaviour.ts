import { type StatusCause, statusOf } from './status.ts';

/** Answers with a Status and this HTTP status instead. */
export interface StatusBehaviour {
  readonly status: number;
  /** Default: the usual word for the code, e.g. `TooManyRequests`. */
  readonly reason?: string;
  readonly message?: string;
  readonly causes?: readonly StatusCause[];
  /** In `details` and as the `Retry-After` header. */
  readonly retryAfterSeconds?: number;
  /** The request is carried out first: a write happens, and then the client gets the failure. */
  readonly afterCommit?: boolean;
}

/** Answers nothing: resets the connection, closes it cleanly, or keeps it open in silence until the client leaves. */
interface ConnectionBehaviour {
  readonly connection: 'reset' | 'close' | 'silence';
  readonly afterCommit?: boolean;
}

/** Answers as usual, with a fault in the body. Without `afterEvents` and `afterBytes` the fault begins right after the headers. */
export interface StreamFault {
  /** The fault begins after this many events (for a list: bodies). */
  readonly afterEvents?: number;
  /** The fault begins at this byte of the body, even in the middle of a line or a gzip stream. */
  readonly afterBytes?: number;
  /** Texts that are written when the fault begins, exactly as given: garbage, part of a line, `eventLine(…)`, `errorEvent(…)`. */
  readonly inject?: readonly string[];
  /** This many of the following events are left out. */
  readonly drop?: number;
  /**
   * How the fault ends the answer. `close`: a proper end. `cut`: FIN without the last chunk. `reset`: RST. `silence`: the connection
   * stays open, and no further byte comes. Absent: the answer goes on as usual.
   */
  readonly ending?: 'close' | 'cut' | 'reset' | 'silence';
  /** Slows the whole body down. */
  readonly bytesPerSecond?: number;
}

interface StreamBehaviour {
  readonly stream: StreamFault;
}

/** What the server does instead of answering properly. The first member tells the three kinds apart. */
export type Behaviour = StatusBehaviour | ConnectionBehaviour | StreamBehaviour;

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** The Status body of a scripted failure. */
export function scriptedStatus(behaviour: StatusBehaviour): object {
  const { status: code, message, causes, retryAfterSeconds } = behaviour;
  const reason = behaviour.reason ?? REASONS[code];
  const details = {
    ...(causes === undefined ? {} : { causes }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
  return statusOf({
    code,
    message: message ?? `scripted failure ${code}`,
    ...(reason === undefined ? {} : { reason }),
    ...(Object.keys(details).length === 0 ? {} : { details }),
  });
}

/** A watch event as its line; `object` needs its `kind` and `apiVersion`. */
export const eventLine = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;

/** An ERROR event as its line, e.g. `errorEvent({ status: 410 })`. */
export const errorEvent = (behaviour: StatusBehaviour): string => eventLine('ERROR', scriptedStatus(behaviour));

/**
 * "Too large resource version", either with a machine-readable cause, or only as a message, as in servers before 1.19.
 */
export const tooLarge = (form: 'cause' | 'message'): StatusBehaviour => ({
  status: 504,
  message: 'Timeout: Too large resource version: 999999, current: 1',
  retryAfterSeconds: 1,
  ...(form === 'cause'
    ? { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] }
    : {}),
});
