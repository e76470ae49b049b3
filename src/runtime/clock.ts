import { onAbort } from './abort.ts';

/** Time is passed in: everything that waits or reads the time gets a `Clock`, so that tests never wait. */
export interface Clock {
  /** Wall clock in milliseconds since 1970: for token times and log lines. It may jump. */
  now(): number;
  /** Monotonic milliseconds from an arbitrary start: for ages, windows and staleness. It never jumps. */
  monotonic(): number;
  /** Resolves after `ms`, or as soon as `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` once after `ms`, unless the returned function is called first. Does not keep the process alive. */
  after(ms: number, run: () => void): () => void;
}

/** setTimeout takes at most a signed 32-bit number of milliseconds (about 24.8 days); more would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        letGo?.();
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, LONGEST_TIMER_MS));
      const letGo = signal && onAbort(signal, done);
    }),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(ms, LONGEST_TIMER_MS)).unref();
    return () => clearTimeout(timer);
  },
};
