import type { UserRecord } from '../users/user-record.ts';

/**
 * Does the work for one user. Resolves with the milliseconds after which to call it again, or with
 * nothing when the work is done, by us or by somebody else.
 */
export type Job = (user: UserRecord, signal: AbortSignal) => Promise<number | undefined>;
