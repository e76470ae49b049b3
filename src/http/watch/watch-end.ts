import { StatusError } from '../../status-error.ts';

/** How a watch came to its end: in the log, and the label of `gatehouse_watches_ended_total`. */
export const WATCH_ENDS = [
  'client', // it went
  'timeout', // its own, or ours
  'stopping', // the server
  'slow', // it took nothing of what lay ready
  'unauthorized', // its bearer is no longer good
  'forbidden', // its right was withdrawn
  'overloaded', // its caller's own questions left no place for the one about its right
  'expired', // it lagged behind what is remembered
  'unavailable', // the data, or what is known of sessions, is too old
  'failed', // by a fault of ours
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

/** The end that this error is. */
export const endOf = (error: unknown): WatchEnd =>
  (error instanceof StatusError ? BY_STATUS[error.answer.code] : undefined) ?? 'failed';

/** Whether a stream that ends so may tell the version that it came to: a lost one is not known any more, and a fault of ours may have spoilt it. */
export const isSound = (end: WatchEnd): boolean => end !== 'expired' && end !== 'failed';
