import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that a kernel gives to whoever asks for any (from 32768 on Linux, 16000 in gVisor): so between the
 * check and the use no other program gets one of these by chance, as a test that listens on port 0 would.
 */
const FIRST = 10_000;

/** Test files that run at the same time have a range each. */
const RANGE = 500;
const RANGES = 12;

const state = { next: randomInt(RANGE) };

/**
 * Ports on 127.0.0.1 that nobody listens on, each given once by this process: for programs that cannot tell which port
 * they were given, and for servers that go away and come back to the same port.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let attempt = 0; ports.length < count && attempt < RANGE; attempt++) {
    const port = rangeStart() + (state.next++ % RANGE);
    if (await isFree(port)) ports.push(port);
  }
  if (ports.length < count) throw new Error(`there are no ${count} free ports from ${rangeStart()} on`);
  return ports;
}

/** The worker's number among those that run now; Vitest counts from 1. */
const rangeStart = (): number => FIRST + (Number(process.env['VITEST_POOL_ID'] ?? 0) % RANGES) * RANGE;

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
