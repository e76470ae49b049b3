import type { Clock } from '../../runtime/clock.ts';
import { LoginError } from './login-error.ts';
import type { TokenClient } from './server/token-client.ts';
import { isFresh, type SavedSession } from './session.ts';
import type { SessionFile } from './session-file.ts';
import type { SessionLock } from './session-lock.ts';

export interface KeepParts {
  readonly file: SessionFile;
  readonly lock: SessionLock;
  readonly tokens: TokenClient;
  readonly clock: Clock;
  /** Whether a session counts as valid while the server cannot be reached. */
  readonly toleratesOutage: boolean;
  /** Signs a person in; `before` is the session that has ended. */
  signIn(before: SavedSession | undefined): Promise<SavedSession>;
}

/**
 * Resolves to a session whose validity was checked at `checkedSince` or later: the one in the file, refreshed if necessary, or a
 * new one after a sign-in. Throws a `LoginError` when it gets none.
 */
export async function keepSession(checkedSince: number, parts: KeepParts): Promise<SavedSession> {
  const { file, lock } = parts;
  await file.prepareFolder();
  return lock.hold(async () => {
    const held = await file.read(); // another process may have renewed it meanwhile
    if (held && isFresh(held, { checkedSince, now: parts.clock.now() })) return held;
    const session = (held && (await confirmed(held, parts))) ?? (await parts.signIn(held));
    await file.write(session);
    return session;
  });
}

/** The session itself while its access token is valid, else the refreshed session; `undefined` when it has ended. */
async function confirmed(
  session: SavedSession,
  { tokens, clock, toleratesOutage }: KeepParts,
): Promise<SavedSession | undefined> {
  const now = clock.now();
  if (now < session.goodUntil && (await isValid())) return { ...session, checkedAt: now };
  return tokens.refresh(session);

  async function isValid(): Promise<boolean> {
    try {
      return await tokens.isGood(session);
    } catch (error) {
      if (toleratesOutage && error instanceof LoginError) return true;
      throw error;
    }
  }
}
