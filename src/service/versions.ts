import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';

/** What was built, from what and when. `/version`, `build_info` and `--version` show it. */
export interface Release {
  /** Semantic version without `v`. */
  readonly version: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  /** RFC 3339. */
  readonly buildDate: string;
}

/**
 * `packageJson` is the project's own; `buildJson` is written when an image is built and absent in a checkout. The
 * fallback values are those that Kubernetes' components show when they were built outside a release.
 */
export function toRelease(packageJson: string, buildJson: string | undefined): Release {
  const { version } = JSON.parse(packageJson) as { version: string };
  const build = JSON.parse(buildJson ?? '{}') as Partial<Release>;
  return {
    version,
    gitCommit: build.gitCommit ?? 'unknown',
    gitTreeState: build.gitTreeState ?? 'unknown',
    buildDate: build.buildDate ?? '1970-01-01T00:00:00Z',
  };
}

/** The runtime of the release; `platform` in the form of Kubernetes' own components, such as `linux/amd64`. */
export interface Runtime {
  readonly nodeVersion: string;
  readonly platform: string;
}

/** Kubernetes names operating systems and architectures as Go does. */
export function toRuntime(process: {
  readonly version: string;
  readonly platform: string;
  readonly arch: string;
}): Runtime {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  return { nodeVersion: process.version, platform: `${system}/${arch}` };
}

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
