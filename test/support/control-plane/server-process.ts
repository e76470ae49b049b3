import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';

/** A program that a test started. It ends when told to, or at the latest with the test process. */
export interface ServerProcess {
  readonly running: boolean;
  /** SIGKILL, which clients see like a crash. Resolves when the process is gone and its ports are free. */
  kill(): Promise<void>;
  /** SIGSTOP; the function returned sends SIGCONT. */
  freeze(): () => void;
  /** SIGTERM, which asks for an orderly end. Resolves when the process is gone. */
  terminate(): Promise<void>;
}

/**
 * The shell becomes the program by `exec`, so the child's id is the program's. Beside it waits a reader of descriptor 3,
 * whose other end this process holds: when this process ends for any reason, SIGKILL included, the pipe closes, `read`
 * fails and the program is killed by its id. A line on the pipe says that the program has already ended.
 */
const LEASHED = '(read -r line <&3 || kill -9 $$ 2>/dev/null) & exec "$@" 3<&-';

/** Starts `command` with its output appended to `logFile`. */
export function startServer(command: string, args: readonly string[], logFile: string): ServerProcess {
  const log = openSync(logFile, 'a');
  const child = spawn('/bin/sh', ['-c', LEASHED, 'sh', command, ...args], { stdio: ['ignore', log, log, 'pipe'] });
  closeSync(log);
  const leash = child.stdio[3] as Writable & Socket;
  leash.on('error', () => undefined); // EPIPE when the reader went first
  leash.unref();
  child.unref();
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => {
      leash.end('ended\n');
      resolve();
    });
  });
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    child.ref();
    child.kill(signal);
    await ended;
  };
  return {
    get running() {
      return isRunning(child);
    },
    freeze: () => {
      child.kill('SIGSTOP');
      return () => void child.kill('SIGCONT');
    },
    kill: () => end('SIGKILL'),
    terminate: () => end('SIGTERM'),
  };
}

const isRunning = (child: ChildProcess): boolean =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;
