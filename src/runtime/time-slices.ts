/** Long work in steps. At each `yield` other work may run. The return value is the result. */
export type Steps<Result> = Generator<void, Result, void>;

/**
 * How long work in steps may run in one turn of the event loop. Together with what else a turn does (parsing a page of
 * 1 MiB takes about 5 ms) a turn stays well under 50 ms.
 */
const SLICE_MS = 8;

/** Runs all steps in one turn: for work that is known to be short. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

interface Work {
  readonly steps: Steps<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * Shares the event loop between long tasks: each turn gives all of them together one slice of time, in order of
 * arrival. A task that fits into the rest of this turn's slice is done at once, without a promise.
 */
export class TimeSlices {
  readonly #clock: { monotonic(): number };
  readonly #waiting: Work[] = [];
  #leftMs = SLICE_MS;
  #isTurnDue = false;

  /** A clock that stands still, as in a test, makes every task fit. */
  constructor(clock: { monotonic(): number }) {
    this.#clock = clock;
  }

  /** Runs the steps to their end. An error in them is thrown, or rejects the promise. */
  run<Result>(steps: Steps<Result>): Result | Promise<Result> {
    if (this.#leftMs > 0) {
      const last = this.#workOn(steps);
      if (last) return last.value;
    }
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ steps, resolve: resolve as (result: unknown) => void, reject });
      this.#later();
    });
  }

  /** Runs steps until they end or the slice is used up. Returns the last step's result if they ended. */
  #workOn<Result>(steps: Steps<Result>): { readonly value: Result } | undefined {
    const { monotonic } = this.#clock;
    const beganAt = monotonic();
    try {
      for (;;) {
        const step = steps.next();
        if (step.done) return step;
        if (monotonic() - beganAt >= this.#leftMs) return undefined;
      }
    } finally {
      this.#spent(monotonic() - beganAt);
    }
  }

  #spent(ms: number): void {
    this.#leftMs -= ms;
    this.#later();
  }

  /** Schedules a turn, which renews the slice and does waiting work. */
  #later(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isTurnDue = false;
    this.#leftMs = SLICE_MS;
    while (this.#leftMs > 0) {
      const work = this.#waiting.shift();
      if (!work) return;
      this.#workOnWaiting(work);
    }
    if (this.#waiting.length > 0) this.#later();
  };

  /** Unfinished work goes to the end of the queue. */
  #workOnWaiting(work: Work): void {
    try {
      const last = this.#workOn(work.steps);
      if (last) work.resolve(last.value);
      else this.#waiting.push(work);
    } catch (error) {
      work.reject(error);
    }
  }
}
