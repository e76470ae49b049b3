import { type AgingCopy, areCurrent, DataTooOld, tooOldAmong } from '../data-age.ts';
import type { Clock } from '../runtime/clock.ts';
import { serviceUnavailable } from '../status-error.ts';

/** Data that the verification of tokens needs: signing keys, session records or users. */
export interface TokenDataSource {
  /** Why the data is not loaded yet; `undefined` once it is. For the log. Until then one of `copies` has no proof. */
  fault(): string | undefined;
  /**
   * When the data was last proved current. While a copy is too old, a revocation or removal may be unseen (C-38). `createTokenData`
   * reads this member once, so the copies and their proofs must stay the same objects.
   */
  readonly copies: readonly AgingCopy[];
}

/** The only place that decides whether tokens can be verified now. */
export interface TokenData {
  /** Throws a 503 unless all data is loaded and current: tokens can then be neither accepted nor refused. */
  check(): void;
  /** The message of `check` about data that is too old; `undefined` if no data is. */
  tooOld(): string | undefined;
}

/**
 * A 503 names data that is too old, but not data that was never loaded: that is only in the log. Every request runs the check, so
 * it compares times first, and looks for a message only when they are wrong.
 */
export function createTokenData(sources: readonly TokenDataSource[], clock: Pick<Clock, 'monotonic'>): TokenData {
  const copies = sources.flatMap((source) => source.copies);
  const refuse = (now: number): never => {
    for (const source of sources) {
      const fault = source.fault();
      if (fault !== undefined) throw serviceUnavailable('tokens cannot be verified now', 1, new Error(fault));
    }
    const sentence = tooOldAmong(copies, now);
    if (sentence !== undefined) throw new DataTooOld(sentence);
    throw serviceUnavailable('tokens cannot be verified now', 1, new Error('a copy of its data has no proof'));
  };
  return {
    tooOld: () => tooOldAmong(copies, clock.monotonic()),
    check: () => {
      const now = clock.monotonic();
      if (!areCurrent(copies, now)) refuse(now);
    },
  };
}
