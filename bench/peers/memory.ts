import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The memory of a server in bytes, after a collection of all garbage. */
export interface Memory {
  readonly heapUsed: number;
  /** Outside the heap, held by buffers. */
  readonly arrayBuffers: number;
  readonly rss: number;
}

export const ASK_FOR_MEMORY = 'memory';

/** Arguments of Node that make a process report its memory. */
export const HEAP_WATCH: readonly string[] = ['--expose-gc', '--import', join(import.meta.dirname, 'heap-watch.ts')];

/** Has all garbage collected and asks for the memory. The process was started with `HEAP_WATCH` and a channel. */
export async function takeMemory(child: ChildProcess): Promise<Memory> {
  const told = once(child, 'message');
  child.send(ASK_FOR_MEMORY);
  return ((await told) as [Memory])[0];
}
