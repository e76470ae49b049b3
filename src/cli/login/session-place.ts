import { dirname, isAbsolute, join } from 'node:path';
import type { LoginSessionOptions } from './login-arguments.ts';
import { LoginError } from './login-error.ts';

/** Where a session is kept. */
export interface SessionPlace {
  readonly file: string;
  readonly folder: string;
  /** Whether the folder is only for our sessions, so that we may set its mode. */
  readonly isOurFolder: boolean;
}

export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `undefined` when the account has none. */
  readonly homeFolder: string | undefined;
}

/**
 * The file that `--session-file` names; else one for each server, user and client in `$XDG_STATE_HOME/gatehouse`. A relative
 * XDG_STATE_HOME is ignored, as the XDG Base Directory Specification says. Throws when there is no home folder: tokens must
 * not end up in the current folder.
 */
export function sessionPlace(
  { server, username, clientId, sessionFile }: LoginSessionOptions,
  { environment, homeFolder }: Surroundings,
): SessionPlace {
  if (sessionFile !== undefined) return { file: sessionFile, folder: dirname(sessionFile), isOurFolder: false };
  const folder = join(stateFolder(environment['XDG_STATE_HOME'], homeFolder), 'gatehouse');
  const key = fnv1a(JSON.stringify([server, username ?? null, clientId]));
  const host = new URL(server).host.replaceAll(/[^\w.-]/g, '_');
  return { file: join(folder, `${host}-${key}.json`), folder, isOurFolder: true };
}

/**
 * FNV-1a of 64 bits, in hexadecimal digits (draft-eastlake-fnv). It only tells files apart: a session of the same name that is not the
 * wanted one is refused when it is read. `node:crypto` takes a quarter of a call with a session that stands to load.
 */
function fnv1a(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value.toString(16).padStart(16, '0');
}

function stateFolder(state: string | undefined, home: string | undefined): string {
  if (state !== undefined && isAbsolute(state)) return state;
  if (home !== undefined && isAbsolute(home)) return join(home, '.local', 'state');
  const how = 'set HOME or XDG_STATE_HOME, or name a file with --session-file';
  throw new LoginError(`there is no home folder to keep the session in: ${how}`);
}

/** What `node:os` says about the account. Both functions throw for an account that the system does not know. */
interface Account {
  homedir(): string;
  userInfo(): { readonly homedir: string };
}

/** HOME, else the home folder of the account. `undefined` when there is neither, as in a container with an arbitrary uid. */
export function homeFolderOf({ homedir, userInfo }: Account): string | undefined {
  try {
    return homedir() || userInfo().homedir; // `homedir` returns an empty HOME as it is
  } catch {
    return undefined;
  }
}
