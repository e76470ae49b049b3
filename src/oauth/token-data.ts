import { DataTooOld } from '../data-age.ts';
import { serviceUnavailable } from '../status-error.ts';

/** What it takes to tell whether a token is good: signing keys, session records, users. */
export interface JudgedBy {
  /** Why it is not loaded yet; `undefined` once it is. For the log. */
  fault(): string | undefined;
  /** The message for callers while it is older than allowed: a revocation or removal may be unseen (C-38). */
  tooOld(): string | undefined;
}

/** "May tokens be judged now?" is asked here and nowhere else. */
export interface TokenData {
  /** Throws a 503 while a token can be called neither good nor bad. Returns while all data is loaded and current. */
  check(): void;
  /** The message of `check` about data that is too old; `undefined` while none is. */
  tooOld(): string | undefined;
}

/**
 * Data that was never loaded is explained in the log only; data that is too old is explained to the caller. Both checks
 * run at each call.
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
        if (fault !== undefined) throw serviceUnavailable('tokens cannot be judged now', 1, new Error(fault));
      }
      const sentence = tooOld();
      if (sentence !== undefined) throw new DataTooOld(sentence);
    },
  };
}
