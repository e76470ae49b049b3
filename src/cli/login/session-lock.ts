import { constants } from 'node:fs';
import { type FileHandle, link, open, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { LoginError, systemReason } from './login-error.ts';

/** A person may take ten minutes to enter the code of a device. Meanwhile the lock tells that its holder lives. */
const RENEWED_MS = 60_000;
/** Several renewals may fail or be late. */
const ABANDONED_MS = 240_000;
/** Enough for a password (two minutes) or a browser (three), but not for the code of a device, or for several sign-ins in a row. */
const LONGEST_WAIT_MS = ABANDONED_MS;
const POLL_MS = 50;
/** A refresh takes less, so the wait is reported only after this time. */
const SILENT_MS = 3_000;

export interface LockParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly processId: number;
  readonly hostName: string;
  /** Whether a process of this machine still runs. */
  isRunning(processId: number): boolean;
  complain(line: string): void;
}

interface Holder {
  readonly processId: number;
  readonly hostName: string;
}

/**
 * Lets one process at a time change a session: the person is asked once, and all processes use the same refresh. A lock
 * whose process has died is taken over. Two processes that both believe they hold it do no harm: within 30 s the server
 * answers the same refresh token with the same pair (docs/contract/tokens.md, section 4).
 */
export class SessionLock {
  readonly #path: string;
  readonly #parts: LockParts;
  readonly #own: string;

  constructor(sessionFile: string, parts: LockParts) {
    this.#path = `${sessionFile}.lock`;
    this.#parts = parts;
    const { processId, hostName, random } = parts;
    this.#own = JSON.stringify({ processId, hostName, nonce: random.bytes(9).toString('base64url') });
  }

  /**
   * Runs `work` while holding the lock. Throws a `LoginError` when another process holds it for minutes, or the folder cannot be
   * written.
   */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    await this.#take();
    const stopRenewing = this.#renew();
    try {
      return await work();
    } finally {
      stopRenewing();
      if ((await this.#read().catch(() => undefined)) === this.#own) await rm(this.#path, { force: true });
    }
  }

  /** Sets the time of the lock once a minute, until the returned function is called. */
  #renew(): () => void {
    const { clock } = this.#parts;
    let stop = (): void => {};
    const wait = (): void => {
      stop = clock.after(RENEWED_MS, () => {
        const seconds = clock.now() / 1000;
        utimes(this.#path, seconds, seconds).catch(() => {}); // the next one may succeed
        wait();
      });
    };
    wait();
    return () => stop();
  }

  async #take(): Promise<void> {
    const { clock, random, complain } = this.#parts;
    const since = clock.monotonic();
    let isReported = false;
    while (!(await this.#create())) {
      const seen = await this.#read();
      if (seen !== undefined && (await this.#isAbandoned(seen)) && (await this.#putAside(seen))) continue;
      const waitedMs = clock.monotonic() - since;
      if (waitedMs > LONGEST_WAIT_MS)
        throw new LoginError(`${this.#path} is held by ${describe(seen)}: end it, or remove the file`);
      if (waitedMs > SILENT_MS && !isReported) complain(`waiting for another sign-in: ${describe(seen)}`);
      isReported ||= waitedMs > SILENT_MS;
      await clock.sleep(POLL_MS * (0.5 + random.fraction()));
    }
  }

  async #create(): Promise<boolean> {
    try {
      await writeFile(this.#path, this.#own, { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw new LoginError(`cannot write ${this.#path}: ${systemReason(error)}; --session-file names another place`);
    }
  }

  /**
   * The content of the lock; `undefined` when it has just been released, or cannot be read. Throws a `LoginError` when it is not a
   * file.
   */
  async #read(): Promise<string | undefined> {
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    let handle: FileHandle | undefined;
    try {
      // Without O_NONBLOCK, opening a FIFO would wait until somebody writes to it.
      handle = await open(this.#path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      if (!(await handle.stat()).isFile()) throw this.#notFile();
      return await handle.readFile('utf8');
    } catch (error) {
      if (error instanceof LoginError) throw error;
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ELOOP' || code === 'EISDIR') throw this.#notFile();
      return undefined;
    } finally {
      await handle?.close();
    }
  }

  #notFile(): LoginError {
    return new LoginError(`${this.#path} is not a file: remove it, or name another place with --session-file`);
  }

  /** Whether the holder is gone, which we know only on this machine, or has not renewed the lock for minutes. */
  async #isAbandoned(seen: string): Promise<boolean> {
    const { clock, hostName, isRunning } = this.#parts;
    const holder = parseHolder(seen);
    if (holder?.hostName === hostName && !isRunning(holder.processId)) return true;
    const since = await stat(this.#path).catch(() => undefined);
    return since !== undefined && clock.now() - since.mtimeMs > ABANDONED_MS;
  }

  /**
   * Removes an abandoned lock by renaming it first, so that only one of several processes succeeds; a process that moved
   * a newer lock instead puts it back. Resolves to whether anything was moved.
   */
  async #putAside(seen: string): Promise<boolean> {
    const aside = `${this.#path}.${this.#parts.random.bytes(6).toString('hex')}`;
    try {
      await rename(this.#path, aside);
    } catch {
      return false; // another process was faster, or the folder does not allow it
    }
    const moved = await readFile(aside, 'utf8').catch(() => seen);
    if (moved !== seen) await link(aside, this.#path).catch(() => {});
    await rm(aside, { force: true });
    return true;
  }
}

/** Parses the content of a lock; `undefined` when it is still being written or is not ours: a shared folder may contain anything. */
function parseHolder(text: string): Holder | undefined {
  try {
    const { processId, hostName } = Object(JSON.parse(text)) as Record<string, unknown>;
    const isHolder = Number.isSafeInteger(processId) && typeof hostName === 'string' && /^[\w.-]+$/.test(hostName);
    return isHolder ? { processId: processId as number, hostName } : undefined;
  } catch {
    return undefined;
  }
}

function describe(text: string | undefined): string {
  const holder = text === undefined ? undefined : parseHolder(text);
  return holder === undefined ? 'another process' : `process ${holder.processId} on ${holder.hostName}`;
}
