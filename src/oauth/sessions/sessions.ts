import type { AgingCopy } from '../../data-age.ts';

/**
 * The record of a session with a rotated refresh token: enough to make its last pair of tokens again, byte for byte, when the
 * previous refresh token is sent again. It never contains a token.
 */
export interface SessionRecord {
  /** The generation of the current refresh token. */
  readonly generation: number;
  /** When it became current, in milliseconds. */
  readonly rotatedAtMs: number;
  /** The `iat` of the last pair, in seconds. */
  readonly issuedAt: number;
  readonly kid: string;
  readonly accessJti: string;
  readonly refreshJti: string;
  /** The times of the rotations of the last minute, in milliseconds, the oldest first. */
  readonly rotationsMs: readonly number[];
  /** When the last token of the session has expired, in seconds. After that the record may be dropped. */
  readonly keepUntil: number;
}

/** A session that has ended. It is remembered until its tokens have expired. */
export interface DeadSession {
  /** All of its tokens were issued in or before this second. */
  readonly endedAt: number;
  readonly keepUntil: number;
}

/** Everything that is remembered about the sessions of one user. The value is never changed in place. */
export interface UserSessions {
  readonly live: ReadonlyMap<string, SessionRecord>;
  readonly dead: ReadonlyMap<string, DeadSession>;
  /** The cut-off: tokens with an `iat` at or before this second are refused; 0 if there is none. */
  readonly cutOff: number;
  /** The cut-off affects neither this session nor others that began in the same browser session. */
  readonly spared?: string;
  /** A digest of the user's new state when the cut-off was set, or `GONE`. A replica that sees the same change need not set it again. */
  readonly cutOffCause?: string;
  /** When the last token that the cut-off covers has expired, in seconds. */
  readonly cutOffKeepUntil: number;
}

/** The cause of a cut-off because the user no longer exists. Every other cause is a digest, and longer. */
export const GONE = 'gone';

/** The state of a user without a record. A session that was never rotated, ended or cut off needs none: its generation is 0. */
export const NOTHING_REMEMBERED: UserSessions = {
  live: new Map(),
  dead: new Map(),
  cutOff: 0,
  cutOffKeepUntil: 0,
};

/** The record to store, if it has changed, and the result for the caller. */
export interface SessionChange<T> {
  readonly next?: UserSessions;
  readonly outcome: T;
}

/** The records of sessions, one for each user who has any. */
export interface SessionStore {
  /** Why the records are not loaded yet, so that no token can be accepted; `undefined` once they are. For the log. */
  fault(): string | undefined;
  /** When the records were last proved current. While they are too old, a session may have ended unseen (C-38). */
  readonly copies: readonly AgingCopy[];
  /** The id of a session that begins now. */
  newId(): string;
  /**
   * Whether this store would know if the session had ended. If not, a refresh token of the session is refused, because the session
   * may have ended (T-18).
   */
  knowsEndsOf(sid: string): boolean;
  /**
   * Reads from memory, which is at most seconds behind other replicas. Throws a 503 if the user's record cannot be parsed.
   */
  read(user: string): UserSessions;
  /**
   * Changes a record by compare-and-swap: `decide` gets the record and returns what to store. If another process has changed the
   * record meanwhile, `decide` is called again with the newer one. Resolves once the change is stored and `read` returns it; rejects
   * if it could not be written or confirmed.
   */
  update<T>(user: string, decide: (current: UserSessions) => SessionChange<T>): Promise<T>;
  /** Calls `changed` with the user of each record that has changed, here or at another replica. `read` returns the new state then. */
  onChange(changed: (user: string) => void): void;
}
