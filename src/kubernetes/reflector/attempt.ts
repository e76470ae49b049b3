import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import type { Failure } from './failure.ts';

/** The limit for response headers and for a list that stalls. It counts from the last byte, not from the start (C-26). */
const ANSWER_LIMIT_MS = 30_000;
/**
 * How long a watch may be silent: bookmarks come about every 60 s, and this adds a margin. TCP keep-alive finds a dead
 * peer; this finds a live one that sends nothing.
 */
const QUIET_LIMIT_MS = 75_000;

const NO_ANSWER: Failure = { kind: 'refused', detail: 'nothing came for 30 s' };

/**
 * One request with a limit on silence: 30 s until `allowQuiet`. Its signal aborts with the outer one, by `end`, or after
 * silence; the first of these decides how the request ended. Call `finish` in every case.
 */
export class ReflectorRequest {
  readonly #controller = new AbortController();
  readonly #stopListening: () => void;
  readonly #silence: SilenceLimit;
  #silent = NO_ANSWER;
  #ended: Failure | undefined;

  constructor(clock: Clock, outer: AbortSignal) {
    this.#silence = new SilenceLimit(clock, ANSWER_LIMIT_MS, () => this.end(this.#silent));
    this.#stopListening = onAbort(outer, () => this.end({ kind: 'aborted' }));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard = (): void => this.#silence.heard();

  /** Allows longer silence from now on: a stream has nothing to send while nothing changes. */
  allowQuiet(): void {
    this.#silent = { kind: 'quiet' };
    this.#silence.restart(QUIET_LIMIT_MS);
  }

  end(failure: Failure): void {
    this.#ended ??= failure;
    this.#controller.abort();
  }

  /** Releases the timer and the listener. If we ended the request, our reason wins over the source's result. */
  finish<T>(result: T): T | Failure {
    this.#silence.stop();
    this.#stopListening();
    return this.#ended ?? result;
  }
}

/**
 * Calls `onSilent` once, when nobody has called `heard` for the limit. `heard` is cheap: it only records the time, which
 * the one timer checks when it fires.
 */
export class SilenceLimit {
  readonly #clock: Clock;
  readonly #onSilent: () => void;
  #limitMs: number;
  #lastHeard: number;
  #cancel: () => void;

  constructor(clock: Clock, limitMs: number, onSilent: () => void) {
    this.#clock = clock;
    this.#onSilent = onSilent;
    this.#limitMs = limitMs;
    this.#lastHeard = clock.monotonic();
    this.#cancel = clock.after(limitMs, this.#check);
  }

  heard(): void {
    this.#lastHeard = this.#clock.monotonic();
  }

  /** Starts again from now with another limit. */
  restart(limitMs: number): void {
    this.#cancel();
    this.#limitMs = limitMs;
    this.heard();
    this.#cancel = this.#clock.after(limitMs, this.#check);
  }

  stop(): void {
    this.#cancel();
  }

  readonly #check = (): void => {
    const left = this.#limitMs - (this.#clock.monotonic() - this.#lastHeard);
    // A timer may fire a fraction of a millisecond early by the monotonic clock.
    if (left < 1) this.#onSilent();
    else this.#cancel = this.#clock.after(left, this.#check);
  };
}

/** Runs the steps until the signal aborts. */
export function* untilAborted<Result>(steps: Steps<Result>, signal: AbortSignal): Steps<Result | Failure> {
  try {
    while (!signal.aborted) {
      const step = steps.next();
      if (step.done) return step.value;
      yield;
    }
    return { kind: 'aborted' };
  } finally {
    steps.return(undefined as Result);
  }
}
