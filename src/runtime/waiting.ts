import { onAbort } from './abort.ts';
import type { Clock } from './clock.ts';

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
    const letGo = onAbort(signal, () => controller.abort());
    await this.#clock.sleep(ms, controller.signal);
    letGo();
  }

  /** Ends the wait. Does nothing when nobody waits. */
  end(): void {
    this.#controller?.abort();
  }
}
