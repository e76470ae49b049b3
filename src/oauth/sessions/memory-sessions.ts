import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { isEmpty, trimmed } from './session-rules.ts';
import { NOTHING_REMEMBERED, type SessionChange, type SessionStore, type UserSessions } from './sessions.ts';

/** The least time between two searches for expired records of users who do not come back. */
const SWEEP_MS = 600_000;

/**
 * A session id is 48 random bits of the process, a dot, and 80 random bits of the session. Nobody can choose one, because it is
 * only accepted in signed tokens.
 */
const PROCESS_BYTES = 6;
const SESSION_BYTES = 10;

/** Whether the session was begun by a process that kept its sessions in memory: other ids have no dot. */
export const isFromMemory = (sid: string): boolean => sid.includes('.');

/**
 * Sessions of a single replica. A restart forgets which of them were ended, so a session can be refreshed only in the process
 * that began it. Access tokens from before a restart are valid until they expire, also those of ended sessions.
 */
export function createMemorySessions(parts: { readonly clock: Clock; readonly random: Random }): SessionStore {
  const prefix = `${parts.random.bytes(PROCESS_BYTES).toString('base64url')}.`;
  const users = new Map<string, UserSessions>();
  const nowSeconds = (): number => Math.floor(parts.clock.now() / 1000);
  const listeners: ((user: string) => void)[] = [];
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
  const update = async <T>(user: string, decide: (current: UserSessions) => SessionChange<T>): Promise<T> => {
    sweepNowAndThen();
    const { next, outcome } = decide(read(user));
    if (next) put(user, next);
    if (next) for (const changed of listeners) changed(user);
    return outcome;
  };
  return {
    fault: () => undefined,
    copies: [],
    newId: () => prefix + parts.random.bytes(SESSION_BYTES).toString('base64url'),
    knowsEndsOf: (sid) => sid.startsWith(prefix),
    read,
    update,
    onChange: (changed) => void listeners.push(changed),
  };
}
