import { currentUser, endSessions, type UserWriteParts } from './user-writes.ts';

/**
 * Removes a user: first the tokens, then the object (docs/contract/accounts.md, section 6.5). Its finalizer lets a keeper
 * remove what belongs to it. When one of the two cannot be written, a repeat completes it (AC-53).
 */
export function createUserDeletion(parts: UserWriteParts): (name: string) => Promise<void> {
  const { users, refusals } = parts;
  return async (name) => {
    const { metadata } = await currentUser(name, parts);
    await endSessions(name, parts);
    await users.remove(name, { uid: metadata.uid }).catch(refusals.throwWriteFailure(name));
  };
}
