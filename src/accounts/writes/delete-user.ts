import { currentUser, endSessions, type UserWriteParts } from './user-writes.ts';

/**
 * Removes a user: first ends the sessions, then deletes the object (docs/contract/accounts.md, section 6.5). The finalizer keeps
 * the object until a keeper has removed what belongs to it. If one of the two writes fails, the same request, sent again,
 * completes the removal (AC-53).
 */
export function createUserDeletion(parts: UserWriteParts): (name: string) => Promise<void> {
  const { objects, refusals } = parts;
  return async (name) => {
    const { metadata } = await currentUser(name, parts);
    await endSessions(name, parts);
    await objects.remove(name, { uid: metadata.uid }).catch(refusals.throwWriteFailure(name));
  };
}
