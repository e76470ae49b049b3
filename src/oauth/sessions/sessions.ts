/**
 * What is remembered of one rotated session: enough to make its last pair of tokens again, letter by letter, from the
 * refresh token before it. Never a token.
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
  /** When the last token of the session has expired, in seconds: then the record may go. */
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
  /** What the user had become when the cut-off was set: another replica that sees the same need not set it again. */
  readonly cutOffCause?: string;
  /** When the last token that the cut-off concerns has expired, in seconds. */
  readonly cutOffKeepUntil: number;
}

/** A session that was never rotated, ended or cut off needs no record: generation 0 follows from its token. */
export const NOTHING_REMEMBERED: UserSessions = {
  live: new Map(),
  dead: new Map(),
  cutOff: 0,
  cutOffKeepUntil: 0,
};

/** What is to be stored (nothing when absent), and what the caller makes of it. */
export interface Change<T> {
  readonly next?: UserSessions;
  readonly outcome: T;
}

/** The records of sessions, one for each user who has any. */
export interface SessionStore {
  /** Why the records are not known yet, so that no token can be called good; `undefined` once they are. For the log. */
  fault(): string | undefined;
  /** The sentence for callers while the records are older than they may be: a session may have ended unseen (C-38). */
  tooOld(): string | undefined;
  /** From memory; at most seconds behind the other replicas. Throws `ServiceUnavailable` when it cannot be told. */
  read(user: string): UserSessions;
  /**
   * Compare-and-swap: `decide` sees the record and says what to store. When somebody else changed it meanwhile, it is
   * called again with the newer one. Resolves once the change stands, and `read` shows it; rejects when it could not be
   * written or confirmed.
   */
  update<T>(user: string, decide: (current: UserSessions) => Change<T>): Promise<T>;
}
