import type { Clock } from '../../src/runtime/clock.ts';

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** A clock that moves only when the test moves it. Timers fire in the order of their times; promises settle in between. */
export class FakeClock implements Clock {
  #timers: Timer[] = [];
  #elapsed = 0;
  #wall: number;

  constructor(wallMs = Date.parse('2026-03-09T10:00:00Z')) {
    this.#wall = wallMs;
  }

  now = (): number => this.#wall + this.#elapsed;
  monotonic = (): number => this.#elapsed;

  /** Moves the wall clock only, as an operator or NTP would (C-33). */
  jumpWall(ms: number): void {
    this.#wall += ms;
  }

  get pendingTimers(): number {
    return this.#timers.length;
  }

  sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const cancel = this.after(ms, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      const stop = (): void => {
        cancel();
        resolve();
      };
      signal?.addEventListener('abort', stop, { once: true });
    });

  after = (ms: number, run: () => void): (() => void) => {
    const timer = { at: this.#elapsed + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  /** Lets `ms` pass: runs each timer that is due, in order. Pending promises settle after the timers of the same time. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    for (;;) {
      await settle();
      const at = this.#timers.reduce((soonest, timer) => Math.min(soonest, timer.at), Number.POSITIVE_INFINITY);
      if (at > end) break;
      this.#elapsed = Math.max(this.#elapsed, at);
      await this.#runDue();
    }
    this.#elapsed = end;
    await settle();
  }

  /** Lets `ms` pass at once, as for a process that was stopped: all timers that are due run now, the timer of a loop only once. */
  async leap(ms: number): Promise<void> {
    await settle();
    this.#elapsed += ms;
    await this.#runDue();
    await settle();
  }

  async #runDue(): Promise<void> {
    const due = this.#timers.filter(({ at }) => at <= this.#elapsed).sort((a, b) => a.at - b.at);
    for (const timer of due) {
      if (!this.#timers.includes(timer)) continue; // an earlier timer has cancelled it
      this.#timers = this.#timers.filter((other) => other !== timer);
      timer.run();
      await promiseJobs();
    }
  }
}

/** Runs the promise jobs that are ready, as Node does between two timers of the same time. */
const promiseJobs = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** Runs everything that is ready: promise jobs, then immediates (loopback sockets need both). */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
