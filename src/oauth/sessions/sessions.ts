import type { AgingCopy } from '../../data-age.ts';

/**
 * What is remembered of one rotated session: enough to make its last pair of tokens again, byte for byte, when the
 * previous refresh token is sent. Never a token.
 */
export interface SessionRecord {
  /** Generation of the current refresh token. */
  readonly generation: number;
  /** When it became current, in milliseconds. */
  readonly rotatedAtMs: number;
  /** `iat` of the last pair, in seconds. */
  readonly issuedAt: number;
  readonly kid: string;
  readonly accessJti: string;
  readonly refreshJti: string;
  /** Rotations of the last minute, in milliseconds, oldest first. */
  readonly rotationsMs: readonly number[];
  /** When the last token of the session has expired, in seconds. After that the record may be dropped. */
  readonly keepUntil: number;
}

/** A session that is over. Its tokens are refused until they would have expired. */
export interface DeadSession {
  /** All of its tokens were issued in or before this second. */
  readonly endedAt: number;
  readonly keepUntil: number;
}

/** Everything that is remembered of one user. Never changed in place. */
export interface UserSessions {
  readonly live: ReadonlyMap<string, SessionRecord>;
  readonly dead: ReadonlyMap<string, DeadSession>;
  /** Every token with `iat` at or before this second is dead; 0 when there is no cut-off. */
  readonly cutOff: number;
  /** The one session that the cut-off spares. */
  readonly spared?: string;
  /** What the user had become when the cut-off was set. A replica that sees the same change need not set it again. */
  readonly cutOffCause?: string;
  /** When the last token that the cut-off covers has expired, in seconds. */
  readonly cutOffKeepUntil: number;
}

/** The cause of a cut-off: somebody is no user any more. Every other cause is a digest, and longer. */
export const GONE = 'gone';

/** A session that was never rotated, ended or cut off needs no record: its tokens say that its generation is 0. */
export const NOTHING_REMEMBERED: UserSessions = {
  live: new Map(),
  dead: new Map(),
  cutOff: 0,
  cutOffKeepUntil: 0,
};

/** What to store (nothing when absent), and the result for the caller. */
export interface SessionChange<T> {
  readonly next?: UserSessions;
  readonly outcome: T;
}

/** The records of sessions, one for each user who has any. */
export interface SessionStore {
  /**
   * Why the records are not loaded yet, so that no token can be called good; `undefined` once they are. For the log.
   */
  fault(): string | undefined;
  /** When the records were last proved current. While they are too old, a session may have ended unseen (C-38). */
  readonly copies: readonly AgingCopy[];
  /** The id of a session that begins now. */
  newId(): string;
  /**
   * Whether every end of this session is known here. A refresh token of a session of which that cannot be said is
   * refused: the session may have been ended (T-18).
   */
  knowsEndsOf(sid: string): boolean;
  /**
   * Reads from memory, at most seconds behind the other replicas. Throws `ServiceUnavailable` when the user's record
   * cannot be read.
   */
  read(user: string): UserSessions;
  /**
   * Compare-and-swap: `decide` sees the record and says what to store. If somebody else changed the record meanwhile,
   * `decide` is called again with the newer one. Resolves once the change is stored and `read` shows it; rejects when
   * it could not be written or confirmed.
   */
  update<T>(user: string, decide: (current: UserSessions) => SessionChange<T>): Promise<T>;
}
