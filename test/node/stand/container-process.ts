import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';

/** The id of the process that is the pod's first container. */
export async function processOf(pod: V1Pod): Promise<number> {
  const id = pod.status?.containerStatuses?.[0]?.containerID?.replace('containerd://', '');
  if (!id) throw new Error(`${pod.metadata?.name} has no container`);
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger);
  const found: number[] = [];
  for (const pid of pids) {
    const cgroups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '');
    if (cgroups.includes(id)) found.push(pid);
  }
  if (found.length === 0) throw new Error(`${pod.metadata?.name} has no process`);
  return Math.min(...found);
}

/** The id of the node's process with this name. Throws unless there is exactly one. */
export async function processNamed(name: string): Promise<number> {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger);
  const names = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')));
  const found = pids.filter((_, at) => names[at]?.trim() === name);
  if (found.length !== 1) throw new Error(`${found.length} processes are named ${name}`);
  return found[0] as number;
}

/** When a process was killed, and when it was gone, on the clock of `performance.now()`. */
export interface Kill {
  readonly killedAt: number;
  readonly goneAt: number;
}

/** SIGKILL. Resolves when the process is gone and this one has heard that its connections are closed. */
export async function killProcess(pid: number): Promise<Kill> {
  const killedAt = performance.now();
  process.kill(pid, 'SIGKILL');
  while (existsSync(`/proc/${pid}`)) await sleep(1); // not a zombie either: its threads may still hold connections
  for (let turn = 0; turn < 2; turn++) await nextTurn(); // the kernel has closed them: here they are read
  return { killedAt, goneAt: performance.now() };
}
