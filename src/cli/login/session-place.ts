import { hash } from 'node:crypto';
import { dirname, isAbsolute, join } from 'node:path';
import type { SessionOptions } from './login-arguments.ts';

/** Where a session is kept. */
export interface SessionPlace {
  readonly file: string;
  readonly folder: string;
  /** The folder has nothing but sessions of ours, so its mode is ours to set. */
  readonly isOurFolder: boolean;
}

interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string;
}

/**
 * The named file; else one for each server, user and client in `$XDG_STATE_HOME/gatehouse`. The specification of the
 * XDG base directories ignores a relative path.
 */
export function sessionPlace(
  { server, username, clientId, sessionFile }: SessionOptions,
  { environment, homeFolder }: Surroundings,
): SessionPlace {
  if (sessionFile !== undefined) return { file: sessionFile, folder: dirname(sessionFile), isOurFolder: false };
  const state = environment['XDG_STATE_HOME'] ?? '';
  const folder = join(isAbsolute(state) ? state : join(homeFolder, '.local', 'state'), 'gatehouse');
  const key = hash('sha256', JSON.stringify([server, username ?? null, clientId]));
  const host = new URL(server).host.replaceAll(/[^\w.-]/g, '_');
  return { file: join(folder, `${host}-${key.slice(0, 16)}.json`), folder, isOurFolder: true };
}
