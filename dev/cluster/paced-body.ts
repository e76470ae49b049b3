import type { Clock } from '../../src/runtime/clock.ts';
import type { Body } from './body.ts';

/** Ten slices a second are enough for a slow body to flow evenly, and few enough to cost nothing. */
const SLICE_MS = 100;

/** Passes a body on at `bytesPerSecond`, by the given clock. */
export function pacedBody(body: Body, bytesPerSecond: number, clock: Clock): Body {
  const sliceBytes = Math.max(1, Math.floor((bytesPerSecond * SLICE_MS) / 1000));
  let waiting = Buffer.alloc(0);
  let ticking = false;
  let ending = false;
  const emptied: (() => void)[] = [];
  const finish = (): void => {
    ticking = false;
    if (ending) body.end();
    for (const resolve of emptied.splice(0)) resolve();
  };
  const tick = (): void => {
    if (waiting.length === 0) {
      finish();
      return;
    }
    body.write(waiting.subarray(0, sliceBytes));
    waiting = waiting.subarray(sliceBytes);
    clock.after(SLICE_MS, tick);
  };
  const start = (): void => {
    if (ticking) return;
    ticking = true;
    tick();
  };
  return {
    write: (text) => {
      waiting = Buffer.concat([waiting, Buffer.from(text as string)]);
      start();
      return waiting.length === 0;
    },
    drained: () => (waiting.length === 0 ? Promise.resolve() : new Promise((resolve) => emptied.push(resolve))),
    end: () => {
      ending = true;
      start();
    },
  };
}
