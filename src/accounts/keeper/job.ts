import type { UserRecord } from '../users/user-record.ts';

/**
 * Does for one user what has to be done. Resolves with the milliseconds after which it is to be called again; with
 * nothing when it is done, or somebody else did it.
 */
export type Job = (user: UserRecord, signal: AbortSignal) => Promise<number | undefined>;
