import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { V1Pod } from '@kubernetes/client-node';
import { runTool } from '../../support/control-plane/clients.ts';
import { processOf } from './container-process.ts';

/** A protocol and a port, such as `udp:53`. */
export type Door = `${'tcp' | 'udp'}:${number}`;

/** `answered`; `refused`, which an enforcer of policies says as well as a port where nobody listens; or what else happened. */
type Outcome = string;

/** The network namespace of a pod, in which programs of this machine run as if they were in the pod. */
export class PodNetwork {
  readonly address: string;
  readonly #enter: readonly string[];

  private constructor(address: string, pid: number) {
    this.address = address;
    this.#enter = [`--net=/proc/${pid}/ns/net`, process.execPath];
  }

  static async of(pod: V1Pod): Promise<PodNetwork> {
    return new PodNetwork(pod.status!.podIP!, await processOf(pod));
  }

  /** What becomes of a connection or a datagram from this pod to each of these doors of this address. */
  async reach<D extends Door>(address: string, doors: readonly D[]): Promise<Record<D, Outcome>> {
    return JSON.parse(await runTool('nsenter', [...this.#enter, program('reach.ts'), address, ...doors]));
  }

  /** Listens at these doors until the returned function is called, or this process ends. */
  async listen(doors: readonly Door[]): Promise<() => Promise<void>> {
    const args = [...this.#enter, program('echo.ts'), ...doors];
    const child = spawn('nsenter', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    const first = await Promise.race([once(child.stdout, 'data'), ended]);
    if (String(first[0]) !== 'ready\n') throw new Error(`nobody listens at ${doors.join()}`);
    return async () => {
      child.stdin.end();
      await ended;
    };
  }
}

/** Writes a program into this file that runs another one of this machine, with the arguments that it gets, in the network of the pod. */
export async function writeProgramInPod(pod: V1Pod, file: string, program: string): Promise<void> {
  const enter = `nsenter --net=/proc/${await processOf(pod)}/ns/net`;
  await writeFile(file, `#!/bin/sh\nexec ${enter} ${program} "$@"\n`, { mode: 0o755 });
}

const program = (name: string): string => join(import.meta.dirname, name);
