import { StatusError } from '../../status-error.ts';

/** How a watch came to its end: in the log, and the label of `gatehouse_watches_ended_total`. */
export const WATCH_ENDS = [
  'client', // the client left
  'timeout', // its own time limit, or ours
  'stopping', // the server is stopping
  'slow', // the client did not read, or read too slowly
  'unauthorized', // its bearer is no longer good
  'forbidden', // its right was withdrawn
  'overloaded', // no place was left to recheck its caller, because of the caller's own requests
  'expired', // the client lagged behind the changes that are kept
  'unavailable', // the data, or what is known of sessions, is too old
  'failed', // a fault of ours
] as const;

export type WatchEnd = (typeof WATCH_ENDS)[number];

const BY_STATUS: Readonly<Record<number, WatchEnd>> = {
  401: 'unauthorized',
  403: 'forbidden',
  410: 'expired',
  429: 'overloaded',
  503: 'unavailable',
  504: 'unavailable',
};

/** How a watch ends when it fails with this error. */
export const endOf = (error: unknown): WatchEnd =>
  (error instanceof StatusError ? BY_STATUS[error.answer.code] : undefined) ?? 'failed';

/**
 * Whether a stream that ends this way may send the version that it reached. After `expired` that version is not known
 * any more, and after `failed` it may be wrong.
 */
export const isSound = (end: WatchEnd): boolean => end !== 'expired' && end !== 'failed';
