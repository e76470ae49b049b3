import type { Logger } from '../observability/logger.ts';

export type HealthEndpoint = 'healthz' | 'livez' | 'readyz';

/** A named check. Each part of the server brings its own; a part that is switched off brings none. */
export interface HealthCheck {
  readonly name: string;
  readonly endpoints: readonly HealthEndpoint[];
  /**
   * `false`: the check is shown, and fails when it is asked for alone, but it does not make the endpoint fail. Default
   * true.
   */
  readonly counts?: boolean;
  /**
   * Whether it is about something that we do without now. If it fails then, it does not count, and the gauge leaves it
   * out, so that no alert comes of it. Default: it is not.
   */
  isExcused?(): boolean;
  /** Returns why it fails, for the log only, or `undefined` when it holds. Reads memory only, and does not wait. */
  check(): string | undefined;
}

export type HealthChecks = readonly HealthCheck[];

interface HealthResult {
  readonly name: string;
  readonly holds: boolean;
  readonly excluded: boolean;
  readonly excused: boolean;
  /** Whether the endpoint fails when this check does. */
  readonly counts: boolean;
}

/** What the checks of one endpoint say now. */
export interface HealthReport {
  readonly results: readonly HealthResult[];
  /** Every check that counts holds. */
  readonly holds: boolean;
}

/** Holds whenever the event loop can answer at all. */
const PING: HealthCheck = { name: 'ping', endpoints: ['healthz', 'livez', 'readyz'], check: () => undefined };

/** Runs named checks. Logs each change of a check, with the reason, which is never sent. */
export class Health {
  readonly #checks: HealthChecks;
  readonly #logger: Logger;
  readonly #failing = new Set<string>();

  constructor(checks: HealthChecks, logger: Logger) {
    this.#checks = [PING, ...checks];
    this.#logger = logger;
  }

  names(endpoint: HealthEndpoint): string[] {
    return this.#checks.filter((check) => check.endpoints.includes(endpoint)).map((check) => check.name);
  }

  /** `only`: that check alone. `excluded` names that do not exist have no effect: a typo must not kill a pod. */
  report(endpoint: HealthEndpoint, excluded: ReadonlySet<string>, only?: string): HealthReport {
    const asked = this.#checks.filter(
      (check) => check.endpoints.includes(endpoint) && (only === undefined || check.name === only),
    );
    const results = asked.map((check) => ({
      name: check.name,
      excluded: excluded.has(check.name),
      excused: isExcused(check),
      counts: only !== undefined || doesCount(check),
      holds: excluded.has(check.name) || this.holds(check),
    }));
    return { results, holds: results.every((result) => result.holds || !result.counts) };
  }

  /** Runs one check; a check that throws does not hold. */
  holds(check: HealthCheck): boolean {
    const reason = reasonOf(check);
    if (reason !== undefined && !this.#failing.has(check.name)) {
      this.#failing.add(check.name);
      this.#logger.warn({ check: check.name, reason }, 'a health check fails');
    } else if (reason === undefined && this.#failing.delete(check.name)) {
      this.#logger.info({ check: check.name }, 'a health check holds again');
    }
    return reason === undefined;
  }

  /** The checks of /readyz, for the gauge that shows each of them. */
  readiness(): readonly { readonly name: string; readonly holds: boolean }[] {
    return this.report('readyz', new Set()).results.filter(({ holds, excused }) => holds || !excused);
  }
}

const isExcused = (check: HealthCheck): boolean => check.isExcused?.() ?? false;

export const doesCount = (check: HealthCheck): boolean => (check.counts ?? true) && !isExcused(check);

function reasonOf(check: HealthCheck): string | undefined {
  try {
    return check.check();
  } catch (error) {
    return `the check itself failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}
