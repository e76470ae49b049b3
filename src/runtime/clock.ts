import { onAbort } from './abort.ts';

/**
 * Time is passed in: everything that waits or reads the time gets a `Clock`, so that tests never wait.
 * @example
 * ```ts
 * async function poll(clock: Clock, ask: () => void, signal: AbortSignal): Promise<void> {
 *   for (; !signal.aborted; await clock.sleep(5_000, signal)) ask();
 * }
 *
 * const clock = new FakeClock(); // test/support/fake-clock.ts; the process has `systemClock`
 * const ending = new AbortController();
 * let asked = 0;
 * const polling = poll(clock, () => asked++, ending.signal);
 * await clock.advance(10_000);
 * ending.abort();
 * await polling;
 * assert.equal(asked, 3);
 * ```
 */
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
        stopListening?.();
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, LONGEST_TIMER_MS));
      const stopListening = signal && onAbort(signal, done);
    }),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(ms, LONGEST_TIMER_MS)).unref();
    return () => clearTimeout(timer);
  },
};

/** A wait that can be cut short from outside. One at a time. */
export class Waiting {
  readonly #clock: Clock;
  #controller: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves after `ms`, at `end`, or as soon as the signal aborts. Never rejects. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    const controller = new AbortController();
    this.#controller = controller;
    const stopListening = onAbort(signal, () => controller.abort());
    await this.#clock.sleep(ms, controller.signal);
    stopListening();
  }

  /** Ends the wait. Does nothing when nobody waits. */
  end(): void {
    this.#controller?.abort();
  }
}

/**
 * Runs a request with a signal that aborts with any of `signals`, or after `ms` by the injected clock. For requests
 * that a caller waits for; a stream has a limit on silence instead.
 */
export async function withTimeLimit<T>(
  clock: Clock,
  limits: { readonly ms: number; readonly signals: readonly AbortSignal[] },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const cancel = clock.after(limits.ms, abort);
  const stopListening = limits.signals.map((signal) => onAbort(signal, abort));
  try {
    return await run(controller.signal);
  } finally {
    cancel();
    for (const forget of stopListening) forget();
  }
}
