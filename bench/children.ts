import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The processes and the temporary folder of one bench. Everything is removed when the bench ends, however it ends,
 * except by SIGKILL. Processes are ended by id.
 */
export interface Children {
  /** The temporary folder, for configurations, logs and bodies. */
  readonly folder: string;
  /** The arguments of Node.js that start Gatehouse: its sources, or the output of `npm run build` as the image runs it. */
  readonly program: readonly string[];
  /** Starts a process with a channel for messages. It ends when the channel does. */
  fork(script: string, args?: readonly string[], nodeArguments?: readonly string[]): ChildProcess;
  /** Starts a program whose output goes to `logFile`. A pipe would cost this process time for every line. */
  start(program: string, args: readonly string[], how: StartOptions): ChildProcess;
}

interface StartOptions {
  readonly logFile: string;
  /** A channel for messages. Default: none. */
  readonly withChannel?: boolean;
}

export function createChildren(program: readonly string[]): Children {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const running = new Set<ChildProcess>();
  const keep = (child: ChildProcess): ChildProcess => {
    running.add(child);
    child.once('exit', () => running.delete(child));
    return child;
  };
  process.once('exit', () => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const start: Children['start'] = (program, args, { logFile, withChannel = false }) => {
    const log = openSync(logFile, 'a');
    const child = keep(spawn(program, args, { stdio: ['ignore', log, log, ...(withChannel ? ['ipc' as const] : [])] }));
    closeSync(log);
    return child;
  };
  return {
    folder,
    program,
    fork: (script, args = [], nodeArguments = []) => keep(fork(script, [...args], { execArgv: [...nodeArguments] })),
    start,
  };
}

/** Resolves when the process is gone. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
