import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lowerPoolPriority } from '../../src/cli/pool-priority.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  for (const [thread, name] of [
    ['17', 'node-MainThread'],
    ['18', 'node-V8Worker'],
    ['19', 'libuv-worker'],
    ['20', 'libuv-worker'],
  ] as const) {
    mkdirSync(join(folder, thread));
    writeFileSync(join(folder, thread, 'comm'), `${name}\n`);
  }
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the priority of the thread pool', () => {
  test('R-02 is lowered for its threads, and for no other', async () => {
    const set: number[][] = [];
    expect(
      await lowerPoolPriority({ folder, setPriority: (thread, niceness) => void set.push([thread, niceness]) }),
    ).toBe(2);
    expect(set).toEqual([
      [19, 10],
      [20, 10],
    ]);
  });

  test('stays as it is where it cannot be set', async () => {
    const setPriority = (): never => {
      throw new Error('EPERM');
    };
    expect(await lowerPoolPriority({ folder, setPriority })).toBe(0);
  });

  test('stays as it is where threads are not listed', async () => {
    expect(await lowerPoolPriority({ folder: join(folder, 'nothing'), setPriority: () => {} })).toBe(0);
  });
});
