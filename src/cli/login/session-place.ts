import { hash } from 'node:crypto';
import { dirname, isAbsolute, join } from 'node:path';
import type { LoginSessionOptions } from './login-arguments.ts';
import { LoginError } from './login-error.ts';

/** Where a session is kept. */
export interface SessionPlace {
  readonly file: string;
  readonly folder: string;
  /** The folder has nothing but sessions of ours, so its mode is ours to set. */
  readonly isOurFolder: boolean;
}

interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absent where the account has none. */
  readonly homeFolder: string | undefined;
}

/**
 * The named file; else one for each server, user and client in `$XDG_STATE_HOME/gatehouse`. The specification of the
 * XDG base directories ignores a relative path. Throws where there is no folder: tokens must not end up in the current one.
 */
export function sessionPlace(
  { server, username, clientId, sessionFile }: LoginSessionOptions,
  { environment, homeFolder }: Surroundings,
): SessionPlace {
  if (sessionFile !== undefined) return { file: sessionFile, folder: dirname(sessionFile), isOurFolder: false };
  const folder = join(stateFolder(environment['XDG_STATE_HOME'], homeFolder), 'gatehouse');
  const key = hash('sha256', JSON.stringify([server, username ?? null, clientId]));
  const host = new URL(server).host.replaceAll(/[^\w.-]/g, '_');
  return { file: join(folder, `${host}-${key.slice(0, 16)}.json`), folder, isOurFolder: true };
}

function stateFolder(state: string | undefined, home: string | undefined): string {
  if (state !== undefined && isAbsolute(state)) return state;
  if (home !== undefined && isAbsolute(home)) return join(home, '.local', 'state');
  const how = 'set HOME or XDG_STATE_HOME, or name a file with --session-file';
  throw new LoginError(`there is no home folder to keep the session in: ${how}`);
}

/** What `node:os` says of the account. Both throw for an account that the system does not know. */
interface Account {
  homedir(): string;
  userInfo(): { readonly homedir: string };
}

/** HOME, else the folder that the system knows. `undefined` where neither is there, as in a container with a made-up uid. */
export function homeFolderOf({ homedir, userInfo }: Account): string | undefined {
  try {
    return homedir() || userInfo().homedir; // an empty HOME is taken for a path by `homedir`
  } catch {
    return undefined;
  }
}
