import type { Clock } from '../../runtime/clock.ts';
import { LoginError } from './login-error.ts';
import type { SavedSession } from './session.ts';
import type { SessionFile } from './session-file.ts';
import type { SessionLock } from './session-lock.ts';
import type { SignInInput } from './sign-in-input.ts';
import type { TokenClient } from './token-client.ts';

export interface KeepParts {
  readonly file: SessionFile;
  readonly lock: SessionLock;
  readonly tokens: TokenClient;
  readonly clock: Clock;
  readonly server: string;
  /** When the server cannot be asked about a session, it counts as standing. */
  readonly isPatient: boolean;
  /** Who signs in; `before` is the session that has ended. */
  input(before: SavedSession | undefined): Promise<SignInInput>;
}

/**
 * A session that the server was asked about at `checkedSince` or later: the one in the file, the same renewed, or a new
 * one.
 * Throws a `LoginError` when there is none.
 */
export async function keepSession(checkedSince: number, parts: KeepParts): Promise<SavedSession> {
  const { file, lock } = parts;
  const before = await file.read();
  if (before && isFresh(before, checkedSince, parts.clock)) return before; // most runs end here, without a lock
  await file.prepareFolder();
  return lock.hold(async () => {
    const held = await file.read(); // another process may have renewed it meanwhile
    if (held && isFresh(held, checkedSince, parts.clock)) return held;
    const session = (held && (await confirmed(held, parts))) ?? (await signedIn(held, parts));
    await file.write(session);
    return session;
  });
}

/** A check that lies in the future was made by another clock. */
const isFresh = ({ goodUntil, checkedAt }: SavedSession, checkedSince: number, clock: Clock): boolean =>
  clock.now() < goodUntil && checkedAt >= checkedSince && checkedAt <= clock.now();

/** The session as it is when its access token is good, else renewed; `undefined` when it has ended. */
async function confirmed(
  session: SavedSession,
  { tokens, clock, isPatient }: KeepParts,
): Promise<SavedSession | undefined> {
  const now = clock.now();
  if (now < session.goodUntil && (await isStanding())) return { ...session, checkedAt: now };
  return tokens.refresh(session);

  async function isStanding(): Promise<boolean> {
    try {
      return await tokens.isGood(session);
    } catch (error) {
      if (isPatient && error instanceof LoginError) return true;
      throw error;
    }
  }
}

async function signedIn(before: SavedSession | undefined, { tokens, server, input }: KeepParts): Promise<SavedSession> {
  const { username, password } = await input(before);
  const session = await tokens.signIn(username, password);
  if (session === undefined) throw new LoginError(`wrong user name or password for ${username} at ${server}`);
  return session;
}
