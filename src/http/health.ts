import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import { LastingFailure } from '../runtime/lasting-failure.ts';

export const HEALTH_ENDPOINTS = ['healthz', 'livez', 'readyz'] as const;

export type HealthEndpoint = (typeof HEALTH_ENDPOINTS)[number];

/** A named health check. Each part of the server has its own; a part that is switched off has none. */
export interface HealthCheck {
  readonly name: string;
  readonly endpoints: readonly HealthEndpoint[];
  /**
   * If `false`, the check is shown, and fails when it is requested by itself, but it does not make the endpoint fail. Default: `true`.
   */
  readonly counts?: boolean;
  /**
   * Whether the check is about something that is not needed now. If it fails then, it does not count, and the gauge does not show it,
   * so that it raises no alert. Default: `false`.
   */
  isExcused?(): boolean;
  /**
   * The right in the cluster that is missing, if the check fails because of that: who may not do what. It is logged after the reason,
   * and shown in the public answer.
   */
  missingRight?(): string | undefined;
  /** Returns why the check fails, for the log only, or `undefined` if it succeeds. It reads only memory and does not wait. */
  check(): string | undefined;
}

export type HealthChecks = readonly HealthCheck[];

/** The result of one check. */
export interface HealthResult {
  readonly name: string;
  readonly holds: boolean;
  readonly excluded: boolean;
  readonly excused: boolean;
  /** Whether the endpoint fails when this check does. */
  readonly counts: boolean;
  /** Set only while the check fails. */
  readonly missingRight: string | undefined;
}

/** The results of the checks of one endpoint. */
export interface HealthReport {
  readonly results: readonly HealthResult[];
  /** Whether every check that counts succeeds. */
  readonly holds: boolean;
}

/** Always succeeds, if the event loop can answer at all. */
const PING: HealthCheck = { name: 'ping', endpoints: HEALTH_ENDPOINTS, check: () => undefined };

/** Runs the health checks. Logs when a check begins to fail, from time to time while it fails, and when it succeeds again. */
export class Health {
  readonly #checks: HealthChecks;
  readonly #failures: ReadonlyMap<string, LastingFailure>;

  constructor(checks: HealthChecks, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#checks = [PING, ...checks];
    this.#failures = new Map(this.#checks.map(({ name }) => [name, new LastingFailure(clock, logger)]));
  }

  names(endpoint: HealthEndpoint): string[] {
    return this.#checks.filter((check) => check.endpoints.includes(endpoint)).map((check) => check.name);
  }

  /** Runs the checks of an endpoint, or `only` one of them. Unknown names in `excluded` have no effect: a typo must not kill a pod. */
  report(endpoint: HealthEndpoint, excluded: ReadonlySet<string>, only?: string): HealthReport {
    const asked = this.#checks.filter(
      (check) => check.endpoints.includes(endpoint) && (only === undefined || check.name === only),
    );
    const results = asked.map((check) => {
      const holds = excluded.has(check.name) || this.holds(check);
      return {
        name: check.name,
        excluded: excluded.has(check.name),
        excused: isExcused(check),
        counts: only !== undefined || doesCount(check),
        holds,
        missingRight: holds ? undefined : check.missingRight?.(),
      };
    });
    return { results, holds: results.every((result) => result.holds || !result.counts) };
  }

  /** Runs one check; a check that throws has failed. */
  holds(check: HealthCheck): boolean {
    const { name } = check;
    const failure = this.#failures.get(name);
    const reason = reasonOf(check);
    if (reason === undefined) {
      failure?.over({ check: name }, 'a health check succeeds again');
      return true;
    }
    const right = check.missingRight?.();
    const why = right === undefined ? reason : `${reason}: ${right}`;
    failure?.failed({ check: name, reason: why }, 'a health check fails', right);
    return false;
  }

  /** The results of the checks of /readyz, for the gauge. */
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
