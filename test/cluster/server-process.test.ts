import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { startServer } from '../support/control-plane/server-process.ts';

const MODULE = join(import.meta.dirname, '..', 'support', 'control-plane', 'server-process.ts');
const listen = (port: number): string => `require('node:net').createServer().listen(${port}, '127.0.0.1')`;
const ATTEMPTS = 2_400;

describe('a server process', () => {
  let folder: string;
  let port: number;
  let log: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-process-'));
    [port] = (await freePorts(1)) as [number];
    log = join(folder, 'log');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('is gone, and its port free, when kill resolves', async () => {
    const server = startServer(process.execPath, ['-e', listen(port)], log);
    await until(() => isOpen(port));
    await server.kill();
    expect(server.running).toBe(false);
    expect(await isOpen(port)).toBe(false);
  });

  test('writes its output to the log and is seen to end by itself', async () => {
    const server = startServer(process.execPath, ['-e', 'console.log("last words")'], log);
    await until(() => Promise.resolve(!server.running));
    expect(await readFile(log, 'utf8')).toBe('last words\n');
    await server.kill();
  });

  test('ends with the process that started it, even when that one is killed without a chance to clean up', async () => {
    const program = `import { startServer } from ${JSON.stringify(MODULE)};
      startServer(process.execPath, ['-e', ${JSON.stringify(listen(port))}], ${JSON.stringify(log)});
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' });
    await until(() => isOpen(port));
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    await until(async () => !(await isOpen(port)));
  });
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await isSo()) return;
    await sleep(25);
  }
  throw new Error('not so after a minute');
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
