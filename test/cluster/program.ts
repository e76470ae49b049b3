import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { type ServerProcess, startServer } from '../support/control-plane/server-process.ts';

/** The arguments of Node.js that start the program as the image does. */
export const PROGRAM = inject('program');

interface Run {
  readonly config: string;
  readonly log: string;
  readonly url: string;
  /** How far its wall clock is ahead of the machine's; negative: behind. */
  readonly aheadMs?: number;
  /** How many times as fast ages and waits pass in it. Its wall clock, which tokens use, is the normal one. */
  readonly times?: number;
}

const HURRIED = join(import.meta.dirname, '..', 'support', 'hurried-gatehouse.ts');

/** Arguments of Node.js that move the wall clock of the process. */
const movedClock = (aheadMs: number): readonly string[] =>
  aheadMs === 0 ? [] : [`--import=data:text/javascript,const{now}=Date;Date.now=()=>now()+(${aheadMs})`];

/** The program in its own process, ready. A failed start ends it and rejects with its log. */
export async function startProgram({ config, log, url, aheadMs = 0, times = 1 }: Run): Promise<ServerProcess> {
  const program = times === 1 ? [...PROGRAM, '--config', config] : [HURRIED, config, `${times}`];
  const server = startServer(process.execPath, [...movedClock(aheadMs), ...program], log);
  try {
    await untilReady(url, () => server.running);
    return server;
  } catch (cause) {
    await server.kill();
    throw new Error(`Gatehouse did not become ready:\n${await readFile(log, 'utf8')}`, { cause });
  }
}

const READY_POLL_MS = 50;
const READY_ATTEMPTS = 2_400;

async function untilReady(url: string, running: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < READY_ATTEMPTS && running(); attempt++) {
    if (await isReady(url)) return;
    await sleep(READY_POLL_MS);
  }
  throw new Error(running() ? 'it was still starting after 2 minutes' : 'it ended');
}

/** Whether it is ready for requests now. */
export async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`).catch(() => undefined);
  await answer?.text();
  return answer?.status === 200;
}
