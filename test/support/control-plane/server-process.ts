import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';

/** A program that a test has started. It ends with the test process at the latest. */
export interface ServerProcess {
  readonly running: boolean;
  readonly pid: number | undefined;
  /** Resolves when the process has ended, whoever ended it. */
  readonly ended: Promise<void>;
  /** Sends SIGKILL, which looks like a crash to clients. Resolves when the process has ended and its ports are free. */
  kill(): Promise<void>;
  /** Sends SIGSTOP. The returned function sends SIGCONT. */
  freeze(): () => void;
  /** Sends SIGTERM, which requests an orderly end. Resolves when the process has ended. */
  terminate(): Promise<void>;
}

/**
 * The shell becomes the program by `exec`, so both have the same process id. A subshell reads descriptor 3, whose other end this process
 * holds. When this process ends for any reason, SIGKILL included, the pipe closes, `read` fails, and the subshell kills the program by its
 * id. A line on the pipe says that the program has already ended.
 */
const LEASHED = '(read -r line <&3 || kill -9 $$ 2>/dev/null) & exec "$@" 3<&-';

/** Starts `command` with its output appended to `logFile`. */
export function startServer(command: string, args: readonly string[], logFile: string): ServerProcess {
  const log = openSync(logFile, 'a');
  const child = spawn('/bin/sh', ['-c', LEASHED, 'sh', command, ...args], { stdio: ['ignore', log, log, 'pipe'] });
  closeSync(log);
  const leash = child.stdio[3] as Writable & Socket;
  leash.on('error', () => undefined); // EPIPE if the reader has ended first
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
    pid: child.pid,
    ended,
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
