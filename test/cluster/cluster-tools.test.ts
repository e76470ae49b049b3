import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { clusterTool } from '../support/cluster-tools.ts';
import { withLock } from '../support/file-lock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-tools-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

describe('the cluster tools', () => {
  test('are those of KUBEBUILDER_ASSETS when that is set', async () => {
    vi.stubEnv('KUBEBUILDER_ASSETS', folder);
    await writeFile(join(folder, 'kube-apiserver'), '');
    expect(await clusterTool('kubeApiserver')).toBe(join(folder, 'kube-apiserver'));
  });

  test('are not built in its place when KUBEBUILDER_ASSETS lacks one', async () => {
    vi.stubEnv('KUBEBUILDER_ASSETS', folder);
    await expect(clusterTool('etcd')).rejects.toThrow(
      `KUBEBUILDER_ASSETS is set, but ${join(folder, 'etcd')} does not exist`,
    );
  });

  test('say what is missing where there is no Go', async () => {
    vi.stubEnv('KUBEBUILDER_ASSETS', '');
    vi.stubEnv('XDG_CACHE_HOME', folder);
    vi.stubEnv('PATH', folder);
    vi.stubEnv('TMPDIR', folder);
    await expect(clusterTool('kubectl')).rejects.toThrow(
      /^cannot build kubectl: there is no usable "go" on PATH; install Go/,
    );
  });
});

describe('the build lock', () => {
  test('lets one in at a time', async () => {
    const lock = join(folder, 'lock');
    const steps: string[] = [];
    const hold = (name: string) => async () => {
      steps.push(`${name} in`);
      await new Promise((resolve) => setImmediate(resolve));
      steps.push(`${name} out`);
    };
    await Promise.all([withLock(lock, hold('a')), withLock(lock, hold('b'))]);
    const first = steps[0]?.startsWith('a') ? 'a' : 'b';
    const second = first === 'a' ? 'b' : 'a';
    expect(steps).toEqual([`${first} in`, `${first} out`, `${second} in`, `${second} out`]);
  });

  test('is free again after a failure', async () => {
    const lock = join(folder, 'lock');
    await expect(withLock(lock, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await withLock(lock, async () => {
      expect(await readFile(lock, 'utf8')).toBe(String(process.pid));
    });
  });

  test('is taken over from a process that is gone', async () => {
    const lock = join(folder, 'lock');
    const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    await new Promise((resolve) => gone.once('exit', resolve));
    await writeFile(lock, String(gone.pid));
    let entered = false;
    await withLock(lock, async () => {
      entered = true;
    });
    expect(entered).toBe(true);
  });
});
