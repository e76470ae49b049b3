import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';

export type ClusterVersion = Readonly<Record<string, unknown>>;

interface Parts {
  readonly clock: Clock;
  readonly logger: Logger;
  read(signal: AbortSignal): Promise<ClusterVersion>;
}

/** The cluster is seldom upgraded, and `/version` only displays it. */
const EVERY_MS = 300_000;
const RETRY_MS = 10_000;

/** The cluster's own `/version`, read at start and every five minutes; the last answer stays while it cannot be read. */
export class ClusterVersionReader {
  readonly #parts: Parts;
  #known: ClusterVersion | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** `undefined` until the first answer. */
  known = (): ClusterVersion | undefined => this.#known;

  run = async (signal: AbortSignal): Promise<void> => {
    const { clock, logger, read } = this.#parts;
    while (!signal.aborted) {
      const waitMs = await read(signal).then(
        (version) => {
          this.#known = version;
          return EVERY_MS;
        },
        (error: unknown) => {
          if (!signal.aborted) logger.debug({ err: error }, 'the cluster does not tell its version');
          return RETRY_MS;
        },
      );
      await clock.sleep(waitMs, signal);
    }
  };
}
