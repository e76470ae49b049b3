import { DataTooOld } from '../data-age.ts';
import { serviceUnavailable } from '../status-error.ts';

/** Something that tokens are judged by: signing keys, session records, users. */
export interface JudgedBy {
  /** Why it is not known yet; `undefined` once it is. For the log. */
  fault(): string | undefined;
  /** The sentence for callers while it is older than it may be: what was revoked, ended or removed since is unknown (C-38). */
  tooOld(): string | undefined;
}

/** "May tokens be judged now?" is asked here and nowhere else. */
export interface TokenData {
  /** Throws the 503 for a token that can be called neither good nor bad. Returns while everything is known and current. */
  check(): void;
  /** The sentence of `check` about data that is too old; `undefined` while none is. */
  tooOld(): string | undefined;
}

/** What was never known is told to the log alone, before what is too old, which is told to the caller. Asked at each call. */
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
