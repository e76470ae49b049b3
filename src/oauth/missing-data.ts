import { DataTooOld } from '../data-age.ts';
import { type StatusError, serviceUnavailable } from '../status-error.ts';
import type { SigningKeys } from './keys/signing-keys.ts';
import type { SessionStore } from './sessions/sessions.ts';

/** What tells whether a token of ours is good, the user aside. */
export interface TokenData {
  readonly keys: Pick<SigningKeys, 'ready' | 'tooOld'>;
  readonly sessions: Pick<SessionStore, 'fault' | 'tooOld'>;
}

/** What is known of users, as far as it can be missing. */
export interface UserData {
  /** Why not every user is known, so that nobody can be called unknown or gone; `undefined` once all are. For the log. */
  usersFault(): string | undefined;
  /** The sentence for callers while what is known of users is older than it may be: one may be gone. */
  usersTooOld(): string | undefined;
}

/** The 503 for a token that can be called neither good nor bad; `undefined` while keys and records are current (C-38). */
export const missingTokenData = ({ keys, sessions }: TokenData): StatusError | undefined =>
  missing(keys.ready() ?? sessions.fault(), keys.tooOld() ?? sessions.tooOld());

/** The same, for a judgement that rests on the user as well. */
export const missingData = ({
  keys,
  sessions,
  usersFault,
  usersTooOld,
}: TokenData & UserData): StatusError | undefined =>
  missing(keys.ready() ?? sessions.fault() ?? usersFault(), keys.tooOld() ?? sessions.tooOld() ?? usersTooOld());

/** What was never known is told to the log alone; what is too old is told to the caller. */
function missing(fault: string | undefined, tooOld: string | undefined): StatusError | undefined {
  if (fault !== undefined) return serviceUnavailable('tokens cannot be judged now', 1, new Error(fault));
  return tooOld === undefined ? undefined : new DataTooOld(tooOld);
}
