import { existsSync, readFileSync } from 'node:fs';
import { homedir, hostname, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import { createBrowser } from './browser/desktop-browser.ts';
import type { ClientParts } from './client-command.ts';
import { homeFolderOf } from './session-place.ts';
import { createTerminal } from './terminal.ts';

/** What the client commands need from the process that runs them, and from its machine. */
export function partsOfThisProcess(lines: Pick<ClientParts, 'print' | 'complain'>): ClientParts {
  const { env: environment, pid: processId, platform, stdin: input, stderr: output } = process;
  return {
    ...lines,
    clock: systemClock,
    random: systemRandom,
    environment,
    homeFolder: homeFolderOf({ homedir, userInfo }),
    userId: process.getuid?.(),
    processId,
    hostName: hostname(),
    isRunning,
    isInPath: (command) =>
      (environment['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, command))),
    browser: createBrowser({ platform, environment }),
    onInterrupt,
    terminal: createTerminal({ input, output, clock: systemClock }),
    readInput: () => buffer(input),
    readFile: (path) => readFileSync(path),
  };
}

function onInterrupt(act: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, act);
  return () => {
    for (const signal of signals) process.off(signal, act);
  };
}

/** Signal 0 only checks whether the process exists; EPERM means that it exists and belongs to another user. */
function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
