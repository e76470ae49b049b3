import type { Change, UserSessions } from './sessions.ts';

/** A change whose promise is still pending. Calling its outcome resolves the promise. */
export interface PendingChange {
  decide(current: UserSessions): Change<() => void>;
  reject(error: unknown): void;
}

/** Hides the type of the outcome, so that changes of every kind can wait in one list. */
export const toPending = <T>(
  decide: (current: UserSessions) => Change<T>,
  resolve: (outcome: T) => void,
  reject: (error: unknown) => void,
): PendingChange => ({
  reject,
  decide: (current) => {
    const { next, outcome } = decide(current);
    return { ...(next ? { next } : {}), outcome: () => resolve(outcome) };
  },
});

/**
 * Decides one change after the other; `next` is the state after the last of them. A change is settled at once if it
 * needs no write and does not rest on one before it that does. So is a change that throws. Neither depends on whether
 * the write succeeds.
 */
export function decideAll(
  current: UserSessions,
  undecided: Set<PendingChange>,
): { readonly next?: UserSessions; readonly outcomes: readonly (() => void)[] } {
  let next: UserSessions | undefined;
  const outcomes: (() => void)[] = [];
  for (const change of undecided) {
    try {
      const decided = change.decide(next ?? current);
      if (decided.next || next) outcomes.push(decided.outcome);
      else {
        undecided.delete(change);
        decided.outcome();
      }
      next = decided.next ?? next;
    } catch (error) {
      undecided.delete(change);
      change.reject(error);
    }
  }
  return { ...(next ? { next } : {}), outcomes };
}
