import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import { LastingFailure } from '../runtime/lasting-failure.ts';

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
  /**
   * The right that we lack in the cluster, where that is why it fails: who may not do what. It is logged behind the
   * reason, and shown to everybody who asks.
   */
  missingRight?(): string | undefined;
  /** Returns why it fails, for the log only, or `undefined` when it holds. Reads memory only, and does not wait. */
  check(): string | undefined;
}

export type HealthChecks = readonly HealthCheck[];

/** What one check says now. */
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

/** What the checks of one endpoint say now. */
export interface HealthReport {
  readonly results: readonly HealthResult[];
  /** Every check that counts holds. */
  readonly holds: boolean;
}

/** Holds whenever the event loop can answer at all. */
const PING: HealthCheck = { name: 'ping', endpoints: ['healthz', 'livez', 'readyz'], check: () => undefined };

/** Runs named checks. Logs each change of a check, and a failure that lasts, with the reason, which is never sent. */
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

  /** `only`: that check alone. `excluded` names that do not exist have no effect: a typo must not kill a pod. */
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

  /** Runs one check; a check that throws does not hold. */
  holds(check: HealthCheck): boolean {
    const { name } = check;
    const failure = this.#failures.get(name);
    const reason = reasonOf(check);
    if (reason === undefined) {
      failure?.over({ check: name }, 'a health check holds again');
      return true;
    }
    const right = check.missingRight?.();
    const why = right === undefined ? reason : `${reason}: ${right}`;
    failure?.failed({ check: name, reason: why }, 'a health check fails', right);
    return false;
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
