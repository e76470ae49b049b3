import type { Clock } from '../../runtime/clock.ts';

/**
 * Calls `onSilent` once when nothing was heard for the limit. `heard` is cheap: it only notes the time, and the one
 * timer checks it when it fires.
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
