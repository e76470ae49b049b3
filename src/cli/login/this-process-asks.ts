import { hostname } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import { createBrowser } from './browser/desktop-browser.ts';
import type { AskingParts } from './client-parts.ts';
import { createTerminal } from './terminal.ts';

/** What a command that asks the server or a person needs from the process, and from its machine. */
export function askingParts(): AskingParts {
  const { env: environment, pid: processId, platform, stdin: input, stderr: output } = process;
  return {
    random: systemRandom,
    processId,
    hostName: hostname(),
    isRunning,
    browser: createBrowser({ platform, environment }),
    onInterrupt,
    terminal: createTerminal({ input, output, clock: systemClock }),
    readInput: () => buffer(input),
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
