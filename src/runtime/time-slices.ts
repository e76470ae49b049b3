/** Long work in steps: at each `yield` other work may come between. What it returns is its result. */
export type Steps<Result> = Generator<void, Result, void>;

/** Of one turn of the event loop. With what else a turn does (a page of 2 MiB is parsed in some 10 ms) it stays well under 50 ms. */
const SLICE_MS = 8;

/** All steps in one turn: for what is known to be short. */
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
 * Shares the event loop between long works: each turn gives all of them together one slice of time, in the order in which they came.
 * What fits into the rest of this turn's slice is done at once, without a promise.
 */
export class TimeSlices {
  readonly #clock: { monotonic(): number };
  readonly #waiting: Work[] = [];
  #leftMs = SLICE_MS;
  #isTurnDue = false;

  /** A clock that stands still, as in a test, makes every work fit. */
  constructor(clock: { monotonic(): number }) {
    this.#clock = clock;
  }

  /** Does the steps to their end. What they throw is thrown, or rejects the promise. */
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

  /** Does what cannot be cut, and counts its time. */
  whole<Result>(work: () => Result): Result {
    const { monotonic } = this.#clock;
    const beganAt = monotonic();
    try {
      return work();
    } finally {
      this.#spent(monotonic() - beganAt);
    }
  }

  /** Resolves when another slice begins; `undefined` while something is left of this one. */
  untilNext(): Promise<void> | undefined {
    return this.#leftMs > 0 ? undefined : (this.run(nothing()) as Promise<void>);
  }

  /** The last step's outcome, unless the slice ends before. */
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

  /** There is a turn for new time as well as for work. */
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

  /** What is not done goes to the end of the queue. */
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

function* nothing(): Steps<void> {}
