import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCallerTokenFile } from '../../../../src/oauth/endpoints/caller-authentication.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

describe('the file of the caller token', () => {
  let folder: string;
  let path: string;
  let stop: AbortController;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'caller-token-'));
    path = join(folder, 'token');
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await rm(folder, { recursive: true });
  });

  async function started(text?: string) {
    if (text !== undefined) await writeFile(path, text);
    const clock = new FakeClock();
    const lines: string[] = [];
    const file = createCallerTokenFile(path, { clock, logger: pino({}, { write: (line) => void lines.push(line) }) });
    void file.run(stop.signal);
    const atRest = async (): Promise<void> => {
      for (let turn = 0; turn < 5000 && clock.pendingTimers === 0; turn++)
        await new Promise((resolve) => setTimeout(resolve, 1));
      expect(clock.pendingTimers).toBe(1);
    };
    /** The next look at the file, to its end: the disk has no clock of ours. */
    const look = async (): Promise<void> => {
      await atRest();
      await clock.advance(2000);
      await atRest();
    };
    await atRest(); // the first look is over: what changes now is seen by the next
    return { file, look, lines };
  }

  test('is read at start, its line end left out', async () => {
    expect((await started('first-token\n')).file.token()).toBe('first-token');
  });

  test('is read again when it changes, in place or by another file of its name', async () => {
    const { file, look, lines } = await started('first-token');
    await writeFile(path, 'second-token');
    await look();
    expect(file.token()).toBe('second-token');
    await writeFile(join(folder, 'next'), 'third-token-');
    await rename(join(folder, 'next'), path);
    await look();
    expect(file.token()).toBe('third-token-');
    expect(lines.join()).not.toMatch(/second-token|third-token/);
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      'the changed caller token is in use',
      'the changed caller token is in use',
    ]);
  });

  test('leaves the last good token in place when it is broken or gone', async () => {
    const { file, look, lines } = await started('first-token');
    await writeFile(path, 'two words');
    await look();
    await rm(path);
    await look();
    await look();
    expect(file.token()).toBe('first-token');
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      'the caller token file cannot be used: the last good token stays',
      'the caller token file cannot be used: the last good token stays',
    ]);
  });

  test('that is gone at start lets nobody in until it is there', async () => {
    const { file, look } = await started();
    expect(file.token()).toBeUndefined();
    await writeFile(path, 'late-token');
    await look();
    expect(file.token()).toBe('late-token');
  });
});
