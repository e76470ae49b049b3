import type { SessionStore } from './sessions.ts';

/**
 * The session store for code that must not write: the way from an authorization request to a code leaves nothing behind (B-20). The
 * import table lets that code know this part of the store alone.
 */
export type SessionReads = Pick<SessionStore, 'newId' | 'read' | 'knowsEndsOf'>;

/** Hands on the reads of a store, without the store. */
export const readsOf = ({ newId, read, knowsEndsOf }: SessionStore): SessionReads => ({ newId, read, knowsEndsOf });
