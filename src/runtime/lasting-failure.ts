import type { Clock } from './clock.ts';

/**
 * An engineer on call reads the last quarter of an hour of a log (docs/operations/runbooks.md). A warning every five
 * minutes appears there at least twice, even when we try only every 30 s, and makes 288 lines a day.
 */
const WARNED_AGAIN_AFTER_MS = 300_000;

interface Lines {
  info(members: object, message: string): void;
  warn(members: object, message: string): void;
  debug(members: object, message: string): void;
}

/**
 * Logs a failure that lasts. It warns when the failure begins, every five minutes while it lasts, and when it changes; it logs the
 * repetitions in between at debug, and the end once. Repeated warnings say in `seconds` how long it has lasted.
 */
export class LastingFailure {
  readonly #clock: Clock;
  readonly #logger: Lines;
  #current: { readonly way: string; readonly beganAt: number; warnedAt: number } | undefined;

  constructor(clock: Clock, logger: Lines) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** `way` says in a few words how it failed. A text other than the last one starts a new warning. */
  failed(members: object, message: string, way = ''): void {
    const now = this.#clock.monotonic();
    const current = this.#current;
    if (current?.way !== way) {
      this.#current = { way, beganAt: current?.beganAt ?? now, warnedAt: now };
      this.#logger.warn(members, message);
    } else if (now - current.warnedAt >= WARNED_AGAIN_AFTER_MS) {
      current.warnedAt = now;
      this.#logger.warn({ ...members, seconds: Math.round((now - current.beganAt) / 1000) }, message);
    } else this.#logger.debug(members, message);
  }

  /** Logs that the failure is over. Does nothing if there was none. */
  over(members: object, message: string): void {
    if (this.#current) this.#logger.info(members, message);
    this.#current = undefined;
  }
}
