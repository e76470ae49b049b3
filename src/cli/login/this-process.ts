import { existsSync, readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { systemClock } from '../../runtime/clock.ts';
import type { ClientParts } from './client-parts.ts';
import { homeFolderOf } from './session-place.ts';

/** What the client commands need from the process that runs them, and from its machine. */
export function partsOfThisProcess(lines: Pick<ClientParts, 'print' | 'complain'>): ClientParts {
  const { env: environment } = process;
  return {
    ...lines,
    clock: systemClock,
    environment,
    homeFolder: homeFolderOf({ homedir, userInfo }),
    userId: process.getuid?.(),
    isInPath: (command) =>
      (environment['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, command))),
    readFile: (path) => readFileSync(path),
    loadMore: async () => (await import('./this-process-asks.ts')).askingParts(),
  };
}
