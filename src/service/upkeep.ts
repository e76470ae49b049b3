import type { HealthCheck } from '../http/health.ts';
import type { Freshness } from '../kubernetes/reflector/store.ts';
import type { Part } from './run-group.ts';

/** What keeps data current: the parts that must run, and the checks that tell whether they work. */
export interface Upkeep {
  readonly parts: readonly Part[];
  readonly checks: readonly HealthCheck[];
  /** By the name of what they mirror; liveness asks whether they still try. */
  readonly reflectors: Readonly<Record<string, Freshness>>;
  /** Milliseconds since the last proof of being current, by the name of the data. */
  readonly stalenessMs: Readonly<Record<string, () => number>>;
}

export const NO_UPKEEP: Upkeep = { parts: [], checks: [], reflectors: {}, stalenessMs: {} };

/** The upkeep of several, in this order. No two have a name in common. */
export const allUpkeep = (all: readonly Upkeep[]): Upkeep => ({
  parts: all.flatMap(({ parts }) => parts),
  checks: all.flatMap(({ checks }) => checks),
  reflectors: Object.assign({}, ...all.map(({ reflectors }) => reflectors)),
  stalenessMs: Object.assign({}, ...all.map(({ stalenessMs }) => stalenessMs)),
});
