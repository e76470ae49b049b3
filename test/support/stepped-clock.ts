import { onAbort } from '../../src/runtime/abort.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';

interface Steps {
  /** Ages and waits pass this many times as fast as the base clock. */
  readonly times: number;
  /** The most time of the base clock that passes in one step. */
  readonly stepMs: number;
  /** The least number of turns of the event loop between two steps. */
  readonly turns: number;
  /** Default: the system's clock. */
  readonly base?: Clock;
}

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** The shortest wait, as for `setTimeout`. Without it, repeated waits of 0 ms would stop the clock. */
const SHORTEST_MS = 1;

/**
 * A hurried clock that waits for its process. It runs `times` as fast as the base clock, but in steps. Between two steps it stands still for
 * some turns of the event loop. So a process that gets little of a core sees time pass more slowly, and does not miss a time limit because
 * of that: a limit of `ms` leaves it at least `ms / times / stepMs * turns` turns. A step ends when a timer is due, so each timer runs
 * exactly at its time by this clock. Time stands still while no timer waits. The wall clock, which tokens use, is that of the base clock.
 */
export function steppedClock({ base = systemClock, ...steps }: Steps): Clock {
  const clock = new SteppedClock({ base, ...steps });
  return { now: base.now, monotonic: clock.monotonic, sleep: clock.sleep, after: clock.after };
}

class SteppedClock {
  readonly #steps: Required<Steps>;
  readonly #timers = new Set<Timer>();
  #elapsed = 0;
  /** The time that had passed by the last step and is not in `#elapsed` yet, in this clock's milliseconds: at most one step. */
  #ahead = 0;
  /** The time of the last step by the base clock; `undefined` while time stands still. */
  #steppedAt: number | undefined;
  /** No timer is due before this time. */
  #soonest = Number.POSITIVE_INFINITY;

  constructor(steps: Required<Steps>) {
    this.#steps = steps;
  }

  monotonic = (): number => this.#elapsed;

  after = (ms: number, run: () => void): (() => void) => {
    const timer = { at: this.#elapsed + Math.max(ms, SHORTEST_MS), run };
    this.#timers.add(timer);
    this.#soonest = Math.min(this.#soonest, timer.at);
    if (this.#steppedAt === undefined) this.#start();
    return () => void this.#timers.delete(timer);
  };

  sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = (): void => {
        cancel();
        letGo?.();
        resolve();
      };
      const cancel = this.after(ms, done);
      const letGo = signal && onAbort(signal, done);
    });

  #aheadNow(): number {
    if (this.#steppedAt === undefined) return 0;
    const { base, stepMs, times } = this.#steps;
    return Math.min(this.#ahead + (base.monotonic() - this.#steppedAt) * times, stepMs * times);
  }

  #start(): void {
    this.#steppedAt = this.#steps.base.monotonic();
    this.#waitForStep();
  }

  /** Waits for `turns` turns of the event loop. `setImmediate` runs once a turn, after input and output. */
  #waitForStep(turns = this.#steps.turns): void {
    setImmediate(() => {
      if (turns > 1) this.#waitForStep(turns - 1);
      else this.#stepInTime();
    });
  }

  /** Steps after a whole step, or when a timer is due; at once if that time is over, because a sleep may last too long. */
  #stepInTime(): void {
    const { base, stepMs, times } = this.#steps;
    const ms = Math.min(stepMs * times, this.#soonest - this.#elapsed) - this.#aheadNow();
    if (ms <= 0) this.#step();
    else base.after(Math.ceil(ms / times), () => this.#step()); // in whole milliseconds, as timers are
  }

  #step(): void {
    const ahead = this.#aheadNow();
    const now = Math.min(this.#elapsed + ahead, this.#soonest);
    this.#ahead = ahead - (now - this.#elapsed);
    this.#elapsed = now;
    this.#steppedAt = this.#steps.base.monotonic();
    try {
      if (this.#soonest <= now) this.#runDue();
    } finally {
      if (this.#timers.size > 0) this.#waitForStep();
      else this.#stand();
    }
  }

  #stand(): void {
    this.#steppedAt = undefined;
    this.#ahead = 0;
  }

  #runDue(): void {
    const [due, later] = [[] as Timer[], [] as Timer[]];
    for (const timer of this.#timers) (timer.at <= this.#elapsed ? due : later).push(timer);
    this.#soonest = Math.min(...later.map(({ at }) => at));
    for (const timer of due.sort((a, b) => a.at - b.at)) if (this.#timers.delete(timer)) timer.run();
  }
}
