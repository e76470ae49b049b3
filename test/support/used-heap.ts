import { setImmediate } from 'node:timers/promises';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** The bytes of the heap that are in use, after a garbage collection. */
export function usedHeap(): number {
  collect();
  return getHeapStatistics().used_heap_size;
}

/** The bytes of buffers that are in use, after what this turn of the event loop held weakly was collected. */
export async function usedBuffers(): Promise<number> {
  // The first collection begins to free them beside this thread, the second waits for that.
  for (let times = 0; times < 2; times++) {
    await setImmediate();
    collect();
  }
  return process.memoryUsage().arrayBuffers;
}
