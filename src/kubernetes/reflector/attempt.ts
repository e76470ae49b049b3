import type { Clock } from '../../runtime/clock.ts';
import type { Failure } from './failure.ts';
import { SilenceLimit } from './silence-limit.ts';

/** No response headers, or a list that stops flowing. Progress counts, not total time (C-26). */
const ANSWER_LIMIT_MS = 30_000;
/** Bookmarks come about each 60 s, plus a margin; TCP keep-alive finds a dead peer, this finds one that says nothing. */
const QUIET_LIMIT_MS = 75_000;

const NO_ANSWER: Failure = { kind: 'refused', detail: 'nothing came for 30 s' };

/**
 * One request under a limit of silence: 30 s until `allowQuiet`. Its signal aborts with the outer one, by
 * `end`, or for silence; whichever was first says how the attempt ended. Call `finish` in every case.
 */
export class Attempt {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #silence: SilenceLimit;
  #silent = NO_ANSWER;
  #ended: Failure | undefined;

  constructor(clock: Clock, outer: AbortSignal) {
    this.#outer = outer;
    this.#silence = new SilenceLimit(clock, ANSWER_LIMIT_MS, () => this.end(this.#silent));
    outer.addEventListener('abort', this.#stop, { once: true });
    if (outer.aborted) this.#stop();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard = (): void => this.#silence.heard();

  /** The stream may be quiet for longer from now on: there is nothing to tell while nothing changes. */
  allowQuiet(): void {
    this.#silent = { kind: 'quiet' };
    this.#silence.restart(QUIET_LIMIT_MS);
  }

  end(failure: Failure): void {
    this.#ended ??= failure;
    this.#controller.abort();
  }

  /** Lets go of timer and listener. What ended the attempt from here wins over what the source made of it. */
  finish<T>(result: T): T | Failure {
    this.#silence.stop();
    this.#outer.removeEventListener('abort', this.#stop);
    return this.#ended ?? result;
  }

  readonly #stop = (): void => this.end({ kind: 'aborted' });
}
