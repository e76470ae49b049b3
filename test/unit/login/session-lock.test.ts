import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { SessionLock } from '../../../src/cli/login/session-lock.ts';
import { type Random, systemRandom } from '../../../src/runtime/random.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const RUNNING = 100;
const GONE = 200;

function setUp({ processId = RUNNING } = {}) {
  const { folder } = temporaryFolder();
  const clock = new FakeClock(Date.now());
  const complaints: string[] = [];
  const another = (id = processId, random = systemRandom) =>
    new SessionLock(join(folder, 'session'), {
      clock,
      random,
      processId: id,
      hostName: 'here',
      isRunning: (one) => one !== GONE,
      complain: (line) => complaints.push(line),
    });
  return { folder, clock, complaints, another, path: join(folder, 'session.lock') };
}

/** Draws nothing but zeros. */
const NO_CHANCE: Random = { ...systemRandom, bytes: (size) => Buffer.alloc(size), fraction: () => 0 };

const holder = (processId: number, hostName: string) => JSON.stringify({ processId, hostName, nonce: 'n' });

/**
 * Moves the clock until the promise settles: by `stepMs` for each millisecond of real time, in which files are read and written, so
 * that a slow disk does not use up the four minutes after which a waiter gives up.
 */
async function passing<T>(clock: FakeClock, promise: Promise<T>, stepMs = 20): Promise<T> {
  const settled = { already: false };
  const end = promise.finally(() => {
    settled.already = true;
  });
  end.catch(() => {});
  while (!settled.already) {
    await clock.advance(stepMs);
    await sleep(1);
  }
  return end;
}

describe('the lock of a session', () => {
  test('lets one at a time work, and is gone afterwards', async () => {
    const { clock, folder, another } = setUp();
    const running = { now: 0, most: 0 };
    const work = async (): Promise<void> => {
      running.most = Math.max(running.most, ++running.now);
      await clock.sleep(20);
      running.now--;
    };
    await passing(clock, Promise.all(Array.from({ length: 8 }, () => another().hold(work))));
    expect(running.most).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each(['null', '7', '[]', '{"processId":100,"hostName":"\\u001b[2J"}'])(
    'that is none of ours is waited for, and nothing of it is shown: %s',
    async (text) => {
      const { clock, complaints, another, path } = setUp();
      writeFileSync(path, text);
      // It is taken for abandoned when it is four minutes old: in ten seconds.
      const heldSince = new Date(clock.now() - 230_000);
      utimesSync(path, heldSince, heldSince);
      await expect(
        passing(
          clock,
          another().hold(async () => 'held'),
        ),
      ).resolves.toBe('held');
      expect(complaints.join()).toBe('waiting for another sign-in: another process');
    },
  );

  test('is released when the work fails', async () => {
    const { another, path } = setUp();
    await expect(another().hold(() => Promise.reject(new Error('planted')))).rejects.toThrow('planted');
    expect(existsSync(path)).toBe(false);
  });

  test('of a process that is gone is taken over at once', async () => {
    const { another, folder, path } = setUp();
    writeFileSync(path, holder(GONE, 'here'));
    expect(await another().hold(async () => 'done')).toBe('done');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('of another machine, or one without content, is taken over after four minutes', async () => {
    for (const text of [holder(GONE, 'elsewhere'), '']) {
      const { another, clock, path } = setUp();
      writeFileSync(path, text);
      const taken = another().hold(async () => 'done');
      await clock.advance(1_000);
      expect(existsSync(path)).toBe(true);
      const old = Date.now() / 1000 - 241;
      utimesSync(path, old, old);
      expect(await passing(clock, taken)).toBe('done');
    }
  });

  test('K-02 of a process that works for long is renewed, so that another machine does not take it over', async () => {
    const { another, clock, path } = setUp();
    const begun = Promise.withResolvers<void>();
    const working = another().hold(() => {
      begun.resolve();
      return clock.sleep(600_000);
    });
    await begun.promise;
    const since = clock.now();
    for (let minute = 1; minute <= 9; minute++) {
      await clock.advance(60_000);
      await expect.poll(() => Math.round(statSync(path).mtimeMs)).toBe(since + minute * 60_000);
    }
    await clock.advance(60_000);
    await working;
    expect([existsSync(path), clock.pendingTimers]).toEqual([false, 0]);
  });

  test('that is held for long is waited for, which is said once, and then given up', async () => {
    const { another, clock, complaints, path } = setUp();
    writeFileSync(path, holder(RUNNING, 'here'));
    const far = Date.now() / 1000 + 86_400;
    utimesSync(path, far, far);
    await expect(
      passing(
        clock,
        another().hold(async () => 'done'),
        1_000,
      ),
    ).rejects.toThrow(`${path} is held by process 100 on here: end it, or remove the file`);
    expect(complaints).toEqual(['waiting for another sign-in: process 100 on here']);
    expect(existsSync(path)).toBe(true);
  });

  test('that another process has taken meanwhile is left to it', async () => {
    const { another, path } = setUp();
    await another().hold(async () => writeFileSync(path, holder(RUNNING, 'elsewhere')));
    expect(existsSync(path)).toBe(true);
  });

  /** Lets a reader of a FIFO go on that waits for somebody to write. */
  const letGo = (path: string): void => {
    try {
      closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    } catch {
      // Nobody reads it.
    }
  };

  test.each<[string, (path: string) => void]>([
    ['a directory', (path) => mkdirSync(path)],
    ['a link that leads nowhere', (path) => symlinkSync('/nowhere/at/all', path)],
    ['a link to a file', (path) => symlinkSync('/etc/hostname', path)],
    ['a FIFO', (path) => void execFileSync('mkfifo', [path])],
  ])('K-05 where it is %s, one sentence says so, and it stays', async (_, make) => {
    const { another, clock, folder, path } = setUp();
    make(path);
    atEnd(() => letGo(path));
    await expect(
      passing(
        clock,
        another().hold(async () => 'done'),
      ),
    ).rejects.toThrow(`${path} is not a file: remove it, or name another place with --session-file`);
    expect(readdirSync(folder)).toEqual(['session.lock']);
  });

  test('that is of a process that is gone, and cannot be put aside, is given up after four minutes', async () => {
    const { another, clock, folder, path } = setUp();
    writeFileSync(path, holder(GONE, 'here'));
    // What it would be renamed to is a directory that is not empty.
    mkdirSync(join(folder, 'session.lock.000000000000', 'x'), { recursive: true });
    await expect(
      passing(
        clock,
        another(RUNNING, NO_CHANCE).hold(async () => 'done'),
        1_000,
      ),
    ).rejects.toThrow(`${path} is held by process 200 on here: end it, or remove the file`);
  });

  test('names the folder that cannot be written', async () => {
    const lock = new SessionLock('/nowhere/session', {
      clock: new FakeClock(),
      random: systemRandom,
      processId: RUNNING,
      hostName: 'here',
      isRunning: () => true,
      complain: () => {},
    });
    await expect(lock.hold(async () => 'done')).rejects.toThrow(
      'cannot write /nowhere/session.lock: ENOENT: no such file or directory; --session-file names another place',
    );
  });
});
