import type { Registry } from 'prom-client';
import type { RouteFamily } from '../http/family.ts';
import type { HealthCheck } from '../http/health.ts';
import type { Freshness } from '../kubernetes/reflector/store.ts';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { SecurityEvents } from '../security-events.ts';
import type { Part } from './run-group.ts';
import type { WatchedAges } from './staleness-alarm.ts';

/** What every family may use. It is handed on as one value; a family declares the part of it that it needs. */
export interface Shared {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly events: SecurityEvents;
}

/** What keeps data current: the parts that must run, and the checks that tell whether they work. */
export interface Upkeep {
  readonly parts: readonly Part[];
  readonly checks: readonly HealthCheck[];
  /** The reflectors, by the name of what they mirror. `/livez` checks whether they still send requests. */
  readonly reflectors: Readonly<Record<string, Freshness>>;
  /** When its data was last proved current, by the name of the data. */
  readonly ages: WatchedAges;
}

export const NO_UPKEEP: Upkeep = { parts: [], checks: [], reflectors: {}, ages: { lists: {}, revocation: {} } };

/** Joins the upkeep of several families, in this order. No two have a name in common. */
export const allUpkeep = (all: readonly Upkeep[]): Upkeep => ({
  parts: all.flatMap(({ parts }) => parts),
  checks: all.flatMap(({ checks }) => checks),
  reflectors: Object.assign({}, ...all.map(({ reflectors }) => reflectors)),
  ages: {
    lists: Object.assign({}, ...all.map(({ ages }) => ages.lists)),
    revocation: Object.assign({}, ...all.map(({ ages }) => ages.revocation)),
  },
});

/**
 * One feature as the composition root takes it: what it serves, what keeps its data current, and what it closes. The root
 * makes the families in order and folds them; it knows nothing else of them.
 * @example
 * ```ts
 * function createHeartbeat({ clock }: Pick<Shared, 'clock'>): Family & Required<Pick<Family, 'upkeep'>> {
 *   let lastAt = Number.NEGATIVE_INFINITY;
 *   const run = async (signal: AbortSignal): Promise<void> => {
 *     for (; !signal.aborted; await clock.sleep(10_000, signal)) lastAt = clock.monotonic();
 *   };
 *   const check = () => (clock.monotonic() - lastAt > 30_000 ? 'no heartbeat for 30 s' : undefined);
 *   const checks = [{ name: 'heartbeat', endpoints: ['readyz'], check }] as const;
 *   return { upkeep: { ...NO_UPKEEP, parts: [{ name: 'heartbeat', run }], checks } };
 * }
 *
 * const { upkeep } = createHeartbeat({ clock: new FakeClock() }); // `makeFamilies` adds it
 * assert.equal(upkeep.checks[0]?.check(), 'no heartbeat for 30 s');
 * void upkeep.parts[0]?.run(AbortSignal.timeout(0)); // until the signal aborts
 * assert.equal(upkeep.checks[0]?.check(), undefined);
 * ```
 */
export interface Family {
  /** Absent when the family serves nothing itself. */
  readonly routes?: RouteFamily;
  /** Absent when nothing runs for the family and no check depends on it. */
  readonly upkeep?: Upkeep;
  /** Closes what it opened, when everything has ended or when a later family cannot be made. */
  close?(): Promise<void>;
}
