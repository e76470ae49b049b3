import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import type { LoginSessionOptions } from './login-arguments.ts';
import { LoginError, systemReason } from './login-error.ts';
import { parseSession, type SavedSession } from './session.ts';

const OTHERS = 0o077;
const LARGEST_BYTES = 65_536;

/** The session that is wanted, and who may own its file. */
export interface WantedSession {
  readonly file: string;
  readonly options: Pick<LoginSessionOptions, 'server' | 'clientId' | 'username'>;
  /** `undefined` on systems without user ids, where file modes mean nothing either. */
  readonly userId: number | undefined;
}

/**
 * Reads a session file; `undefined` when there is none. Throws a `LoginError` when others could have read or made the file, or when
 * it holds another session. Synchronous, because clients wait for it and nothing else runs meanwhile.
 */
export function readSession({ file, options, userId }: WantedSession): SavedSession | undefined {
  const descriptor = openSession(file);
  if (descriptor === undefined) return undefined;
  try {
    checkOwner(descriptor, file, userId);
    const text = readFileSync(descriptor, 'utf8');
    if (text === '') return undefined; // mktemp makes an empty file
    const session = parseSession(text);
    if (session === undefined) throw sessionFault(file, NO_SESSION);
    checkWhose(session, file, options);
    return session;
  } finally {
    closeSync(descriptor);
  }
}

const NO_SESSION = 'is not a session file of gatehouse: name another one';

export const sessionFault = (file: string, what: string): LoginError =>
  new LoginError(`the session file ${file} ${what}`);

function openSession(file: string): number | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  try {
    return openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP') throw sessionFault(file, 'is a symbolic link: remove it, or name another file');
    throw sessionFault(file, `cannot be read: ${systemReason(error)}`);
  }
}

/** Checks the open file and not its name, which may point to another file by now. */
function checkOwner(descriptor: number, file: string, userId: number | undefined): void {
  const status = fstatSync(descriptor);
  if (!status.isFile() || status.size > LARGEST_BYTES) throw sessionFault(file, NO_SESSION);
  if (userId === undefined) return;
  if (status.uid !== userId) throw sessionFault(file, 'belongs to another user: remove it, or name another file');
  if (status.mode & OTHERS) {
    const mode = (status.mode & 0o777).toString(8).padStart(4, '0');
    throw sessionFault(file, `has mode ${mode}, so others may know its tokens: remove it and sign in again`);
  }
}

/** Throws when the file is that of another session: its tokens must not be sent to this server. */
function checkWhose(
  { server, clientId, username }: SavedSession,
  file: string,
  wanted: WantedSession['options'],
): void {
  const isWanted =
    server === wanted.server && clientId === wanted.clientId && username === (wanted.username ?? username);
  if (!isWanted) throw sessionFault(file, `is the session of ${username} at ${server}: name another file`);
}
