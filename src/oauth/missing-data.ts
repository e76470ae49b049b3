import { DataTooOld } from '../data-age.ts';
import { type StatusError, serviceUnavailable } from '../status-error.ts';
import type { SigningKeys } from './keys/signing-keys.ts';
import type { SessionStore } from './sessions/sessions.ts';

/** What it takes to tell whether a token of ours is good, apart from the user. */
export interface TokenData {
  readonly keys: Pick<SigningKeys, 'ready' | 'tooOld'>;
  readonly sessions: Pick<SessionStore, 'fault' | 'tooOld'>;
}

/** Whether the known users are complete and current. */
export interface UserData {
  /**
   * Why not every user is known yet, so that nobody can be called unknown or gone; `undefined` once all are known. For
   * the log.
   */
  usersFault(): string | undefined;
  /** The message for callers while what is known of users is older than allowed: a user may be gone. */
  usersTooOld(): string | undefined;
}

/**
 * The 503 while a token can be called neither good nor bad; `undefined` while keys and session records are current
 * (C-38).
 */
export const missingTokenData = ({ keys, sessions }: TokenData): StatusError | undefined =>
  missing(keys.ready() ?? sessions.fault(), keys.tooOld() ?? sessions.tooOld());

/** The same, for a judgement that also depends on the user. */
export const missingData = ({
  keys,
  sessions,
  usersFault,
  usersTooOld,
}: TokenData & UserData): StatusError | undefined =>
  missing(keys.ready() ?? sessions.fault() ?? usersFault(), keys.tooOld() ?? sessions.tooOld() ?? usersTooOld());

/** Data that was never loaded is explained in the log only; data that is too old is explained to the caller. */
function missing(fault: string | undefined, tooOld: string | undefined): StatusError | undefined {
  if (fault !== undefined) return serviceUnavailable('tokens cannot be judged now', 1, new Error(fault));
  return tooOld === undefined ? undefined : new DataTooOld(tooOld);
}
