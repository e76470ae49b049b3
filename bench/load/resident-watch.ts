import { setTimeout as sleep } from 'node:timers/promises';
import { memoryOf } from './usage.ts';

const EVERY_MS = 100;

/** A server whose memory can be read. */
type Server = Parameters<typeof memoryOf>[0];

/** How much the resident memory of a server grew while the work was done, in bytes: its highest value less the one before. */
export async function residentGrowth<Result>(
  server: Server,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly grown: number }> {
  const resident = async (): Promise<number> => (await memoryOf(server)).now ?? Number.NaN;
  const before = await resident();
  let peak = before;
  const ended = new AbortController();
  const watching = (async () => {
    for (; !ended.signal.aborted; await sleep(EVERY_MS)) peak = Math.max(peak, await resident());
  })();
  try {
    const result = await work();
    peak = Math.max(peak, await resident());
    return { result, grown: peak - before };
  } finally {
    ended.abort();
    await watching;
  }
}
