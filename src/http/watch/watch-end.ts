import { StatusError } from '../../status-error.ts';

/** Why a watch ended: the words of the log, and of the label of `gatehouse_watches_ended_total`. */
export const WATCH_ENDS = [
  'client', // the client disconnected
  'timeout', // the client's time limit, or ours
  'stopping', // the server is stopping
  'slow', // the client did not read, or read too slowly
  'unauthorized', // the bearer token is no longer valid
  'forbidden', // the right was withdrawn
  'overloaded', // a recheck of the caller failed with 429, because of the caller's own requests
  'expired', // the client fell behind the changes that are kept
  'unavailable', // the data, or the data about sessions, is too old
  'failed', // a bug
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

/** The word for a watch that fails with this error. */
export const endOf = (error: unknown): WatchEnd =>
  (error instanceof StatusError ? BY_STATUS[error.answer.code] : undefined) ?? 'failed';

/**
 * Whether a stream that ends for this reason may send the version that it has reached. After `expired` the changes since that version
 * are no longer kept, and after `failed` the version may be wrong.
 */
export const isSound = (end: WatchEnd): boolean => end !== 'expired' && end !== 'failed';
