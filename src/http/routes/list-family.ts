import type { Age, Lister } from '../../resources/cache.ts';
import type { Kind } from '../../resources/entries/kind.ts';
import type { WatchSource } from '../../resources/watch/watch.ts';
import type { RouteFamily } from '../family.ts';
import { registerWatches } from '../metrics.ts';
import { createRecheck } from '../watch/recheck.ts';
import { Watches, watchSeats } from '../watch/watches.ts';
import { listRoutes } from './lists.ts';

/** A kind, its list in memory and its watches. */
export interface ServedList {
  readonly kind: Kind;
  readonly lister: Lister;
  readonly watches: WatchSource;
  readonly age: Age;
}

/** The lists and watches of all kinds. All watches share one limit. */
export const listFamily =
  (lists: readonly ServedList[]): RouteFamily =>
  (tools) => {
    const { clock, limits, metrics, registry, callerSteps, maxDecisionAgeMs } = tools;
    const seats = watchSeats(limits, metrics);
    registerWatches(registry, seats);
    const recheck = createRecheck(callerSteps, clock, maxDecisionAgeMs);
    return {
      routes: lists.flatMap((list) => {
        const watches = new Watches({ ...tools, source: list.watches, age: list.age, seats, recheck });
        return listRoutes({ ...tools, ...list, watches });
      }),
    };
  };
