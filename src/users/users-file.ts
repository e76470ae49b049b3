import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Registry } from 'prom-client';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import { followFile } from '../runtime/followed-file.ts';
import { createReloadCounter } from './metrics.ts';
import type { User } from './user.ts';
import type { UserSource } from './user-directory.ts';
import {
  parseUsersFile,
  type UsersFileContent,
  type UsersFileProblem,
  type UsersFileRules,
} from './users-file-content.ts';

export interface UsersFileOptions extends UsersFileRules {
  readonly path: string;
}

export interface UsersFileParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

export interface UsersFile extends UserSource {
  users(): readonly User[];
  /** Checks the file every two seconds, and uses changed content if it is valid. Only a bug makes it throw. */
  run(signal: AbortSignal): Promise<void>;
}

/** The users file cannot be used; the message lists every problem. Thrown only at start. */
export class UsersFileError extends Error {
  readonly problems: readonly UsersFileProblem[];

  constructor(path: string, problems: readonly UsersFileProblem[]) {
    const lines = problems.map((problem) => `  ${problem.path ? `${problem.path}: ` : ''}${problem.message}`);
    super(`the users file ${path} cannot be used:\n${lines.join('\n')}`);
    this.name = 'UsersFileError';
    this.problems = problems;
  }
}

/**
 * Users from a YAML file. Throws `UsersFileError` when the file cannot be used at start. Later the last valid content stays in
 * use until the file is valid again.
 */
export function createUsersFile(options: UsersFileOptions, parts: UsersFileParts): UsersFile {
  const reloads = createReloadCounter(parts.registry);
  const listeners: (() => void)[] = [];
  let taken = readAtStart(options.path);
  let users = usersOf(parseUsersFile(taken, options), options.path);
  let last: Reading = { text: taken };

  const reload = async (): Promise<void> => {
    const next = await readAgain(options.path);
    if (next.text === last.text && next.code === last.code) return;
    last = next;
    if (next.text === taken) return;
    const content = next.text === undefined ? unreadable(next.code) : parseUsersFile(next.text, options);
    reloads.inc({ result: 'users' in content ? 'ok' : 'invalid' });
    if ('problems' in content) {
      parts.logger.error(
        { problems: content.problems },
        'the changed users file is not taken: the last good one stays',
      );
      return;
    }
    taken = next.text ?? taken;
    users = content.users;
    parts.logger.info({ users: users.length }, 'the changed users file is in use');
    for (const changed of listeners) changed();
  };

  const run = (signal: AbortSignal): Promise<void> => followFile(options.path, reload, { clock: parts.clock, signal });
  return { label: 'users file', users: () => users, onChange: (changed) => listeners.push(changed), run };
}

function readAtStart(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsersFileError(path, unreadable((error as NodeJS.ErrnoException).code).problems);
  }
}

function usersOf(content: UsersFileContent, path: string): readonly User[] {
  if ('problems' in content) throw new UsersFileError(path, content.problems);
  return content.users;
}

/** The result of reading the file: its text, or the code of the error. */
interface Reading {
  readonly text?: string;
  readonly code?: string | undefined;
}

const readAgain = (path: string): Promise<Reading> =>
  readFile(path, 'utf8').then(
    (text) => ({ text }),
    (error: NodeJS.ErrnoException) => ({ code: error.code }),
  );

const unreadable = (code: string | undefined): { readonly problems: [UsersFileProblem] } => ({
  problems: [{ path: '', message: `cannot be read (${code ?? 'unknown reason'})` }],
});
