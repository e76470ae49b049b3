import { DataTooOld } from '../data-age.ts';
import { serviceUnavailable } from '../status-error.ts';

/** Data that the verification of tokens needs: signing keys, session records or users. */
export interface JudgedBy {
  /** Why the data is not loaded yet; `undefined` once it is. For the log. */
  fault(): string | undefined;
  /** The message for callers while the data is older than allowed: we may have missed a revocation or removal (C-38). */
  tooOld(): string | undefined;
}

/** The only place that decides whether tokens can be verified now. */
export interface TokenData {
  /** Throws a 503 unless all data is loaded and current: tokens can then be neither accepted nor refused. */
  check(): void;
  /** The message of `check` about data that is too old; `undefined` if no data is. */
  tooOld(): string | undefined;
}

/**
 * Why data is not loaded yet is only logged; that data is too old is also said in the answer. Each call checks both.
 */
export function createTokenData(sources: readonly JudgedBy[]): TokenData {
  const tooOld = (): string | undefined => {
    for (const source of sources) {
      const sentence = source.tooOld();
      if (sentence !== undefined) return sentence;
    }
    return undefined;
  };
  return {
    tooOld,
    check: () => {
      for (const source of sources) {
        const fault = source.fault();
        if (fault !== undefined) throw serviceUnavailable('tokens cannot be verified now', 1, new Error(fault));
      }
      const sentence = tooOld();
      if (sentence !== undefined) throw new DataTooOld(sentence);
    },
  };
}
