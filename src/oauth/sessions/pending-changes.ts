import type { Change, UserSessions } from './sessions.ts';

/** A change whose promise is open. Its outcome, when called, resolves it. */
export interface PendingChange {
  decide(current: UserSessions): Change<() => void>;
  reject(error: unknown): void;
}

/** Forgets the type of the outcome, so that changes of every kind can wait in one list. */
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
 * One change after the other; `next` is what the last of them leaves. What needs no write, and rests on none of those before
 * it, is settled at once, and so is a change that throws: neither has to do with what becomes of the write.
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
