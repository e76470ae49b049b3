import type { Clock } from '../../runtime/clock.ts';

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
    const stop = (): void => controller.abort();
    this.#controller = controller;
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    await this.#clock.sleep(ms, controller.signal);
    signal.removeEventListener('abort', stop);
  }

  /** Ends the wait. Does nothing when nobody waits. */
  end(): void {
    this.#controller?.abort();
  }
}
