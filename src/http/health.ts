import type { Logger } from '../observability/logger.ts';

export type HealthEndpoint = 'healthz' | 'livez' | 'readyz';

/** A named check. A part brings its own; the checks of a part that is switched off do not exist. */
export interface HealthCheck {
  readonly name: string;
  readonly endpoints: readonly HealthEndpoint[];
  /** `false`: shown, and asked for alone it fails, but it does not make the endpoint fail. Default true. */
  readonly counts?: boolean;
  /** Why it fails, for the log only; `undefined` when it holds. Reads memory, at once. */
  check(): string | undefined;
}

export type HealthChecks = readonly HealthCheck[];

interface HealthResult {
  readonly name: string;
  readonly holds: boolean;
  readonly excluded: boolean;
  /** Whether the endpoint fails when it does. */
  readonly counts: boolean;
}

/** What the checks of one endpoint say now. */
export interface HealthReport {
  readonly results: readonly HealthResult[];
  /** Every check holds that counts. */
  readonly holds: boolean;
}

/** That the event loop answers is all that it says. */
const PING: HealthCheck = { name: 'ping', endpoints: ['healthz', 'livez', 'readyz'], check: () => undefined };

/** Runs named checks and logs each change of one, with the reason that nobody else is told. */
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
    return this.report('readyz', new Set()).results;
  }
}

export const doesCount = (check: HealthCheck): boolean => check.counts ?? true;

function reasonOf(check: HealthCheck): string | undefined {
  try {
    return check.check();
  } catch (error) {
    return `the check itself failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}
