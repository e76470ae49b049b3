import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill } from 'node:process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ExecPlugin } from '../../../src/kubernetes/access/credentials.ts';
import { FakeClock } from '../../support/fake-clock.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exec-plugin-'));
});
afterEach(() => rm(folder, { recursive: true }));

function create(script: string) {
  const clock = new FakeClock();
  const exec = { command: '/bin/sh', args: ['-c', script, 'plugin', folder] };
  return { clock, plugin: new ExecPlugin(exec, clock) };
}

function isThere(pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

const credential = (status: object): string => `echo '${JSON.stringify({ kind: 'ExecCredential', status })}'`;

describe('exec plugin', () => {
  test('gives a token, remembered until it is forgotten, and leaves no timer', async () => {
    const { clock, plugin } = create(`echo x >> "$1/asked"; ${credential({ token: 'one' })}`);
    expect(await plugin.ask()).toEqual({ authorization: 'Bearer one' });
    expect(await plugin.ask()).toEqual({ authorization: 'Bearer one' });
    expect(await readFile(join(folder, 'asked'), 'utf8')).toBe('x\n');
    plugin.forget();
    await plugin.ask();
    expect(await readFile(join(folder, 'asked'), 'utf8')).toBe('x\nx\n');
    expect(clock.pendingTimers).toBe(0);
  });

  test('gives a certificate and its key', async () => {
    const { plugin } = create(credential({ clientCertificateData: 'c', clientKeyData: 'k' }));
    expect(await plugin.ask()).toEqual({ cert: 'c', key: 'k' });
  });

  test('has nobody at its standard input', async () => {
    const { plugin } = create(`read answer || ${credential({ token: 'unasked' })}`);
    expect(await plugin.ask()).toEqual({ authorization: 'Bearer unasked' });
  });

  test('is killed after 30 s, also when what it started keeps its output open', async () => {
    const { clock, plugin } = create('sleep 600 & echo $$ $! > "$1/begun"; mv "$1/begun" "$1/pids"; wait');
    const answer = plugin.ask();
    const rejected = expect(answer).rejects.toThrow(/^\/bin\/sh gave no credential within 30 s$/);
    const written = () => readFile(join(folder, 'pids'), 'utf8').catch(() => '');
    await expect.poll(written).not.toBe('');
    const pids = await written();
    const [shell, sleeping] = pids.split(' ').map(Number) as [number, number];
    try {
      await clock.advance(29_999);
      expect(isThere(shell)).toBe(true);
      await clock.advance(1);
      await rejected;
      // It is told to end at that moment; when it has is up to the kernel.
      await expect.poll(() => isThere(shell)).toBe(false);
    } finally {
      kill(sleeping);
    }
    expect(clock.pendingTimers).toBe(0);
  });
});
