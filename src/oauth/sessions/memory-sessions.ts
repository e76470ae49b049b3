import type { Clock } from '../../runtime/clock.ts';
import { isEmpty, trimmed } from './session-rules.ts';
import { type Change, NOTHING_REMEMBERED, type SessionStore, type UserSessions } from './sessions.ts';

/** How often, at most, to look for records of users who never come back. */
const SWEEP_MS = 600_000;

/**
 * Sessions of a single replica. A restart forgets everything: refresh tokens go on from the generation that they carry,
 * and tokens that were revoked before are good again until they expire.
 */
export function createMemorySessions(parts: { readonly clock: Clock }): SessionStore {
  const users = new Map<string, UserSessions>();
  const nowSeconds = (): number => Math.floor(parts.clock.now() / 1000);
  let sweptAt = parts.clock.monotonic();

  const put = (user: string, sessions: UserSessions): void => {
    const kept = trimmed(sessions, nowSeconds());
    if (isEmpty(kept)) users.delete(user);
    else users.set(user, kept);
  };
  const sweepNowAndThen = (): void => {
    if (parts.clock.monotonic() - sweptAt < SWEEP_MS) return;
    sweptAt = parts.clock.monotonic();
    for (const [user, sessions] of users) put(user, sessions);
  };
  const read = (user: string): UserSessions => users.get(user) ?? NOTHING_REMEMBERED;
  const update = async <T>(user: string, decide: (current: UserSessions) => Change<T>): Promise<T> => {
    sweepNowAndThen();
    const { next, outcome } = decide(read(user));
    if (next) put(user, next);
    return outcome;
  };
  return { fault: () => undefined, tooOld: () => undefined, read, update };
}
