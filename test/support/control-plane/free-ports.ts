import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/**
 * The ports are below those that a kernel gives to a program that listens on port 0 (from 32768 on Linux, 16000 in gVisor). So no other
 * program gets one of them between the check and the use. They are above 10080, the highest port that `fetch` refuses ("bad port",
 * Fetch Standard 2.9).
 */
const FIRST = 10_100;
const COUNT = 5_900;

/** The folder with a file for each port that was given to a process of this user. The file has the id of the process. */
const CLAIMS = join(tmpdir(), `gatehouse-test-ports-${userInfo().uid}`);

const state = { next: randomInt(COUNT), cleansUp: false };
const claimed = new Set<string>();

/**
 * Returns free ports on 127.0.0.1, each of them to one process only. They are for programs that cannot listen on port 0 and report the
 * port, and for servers that restart on the same port.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let attempt = 0; ports.length < count && attempt < COUNT; attempt++) {
    const port = FIRST + (state.next++ % COUNT);
    if (claim(port) && (await isFree(port))) ports.push(port);
  }
  if (ports.length < count) throw new Error(`there are no ${count} free ports from ${FIRST} on`);
  return ports;
}

/** Claims the port for as long as this process lives. Returns false if another test process has it. */
function claim(port: number): boolean {
  mkdirSync(CLAIMS, { recursive: true });
  const file = join(CLAIMS, String(port));
  if (claimed.has(file)) return false;
  if (!state.cleansUp) process.once('exit', () => [...claimed].forEach((one) => void rmSync(one, { force: true })));
  state.cleansUp = true;
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      claimed.add(file);
      return true;
    } catch {
      if (isRunning(file)) return false;
      rmSync(file, { force: true });
    }
  }
  return false;
}

/** Whether the process that claimed the port is alive. A claim that is just being written counts as one of a live process. */
function isRunning(file: string): boolean {
  try {
    const id = Number(readFileSync(file, 'utf8'));
    if (id === 0) return true;
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}
