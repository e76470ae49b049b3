import { BoundedMap } from '../../runtime/bounded-map.ts';
import { type BadTarget, parseTarget, type Target } from '../target.ts';
import type { Match, RouteTable } from './route-table.ts';

/** Where a request goes: its target in canonical form, and what is served there. */
export interface Location {
  readonly target: Target;
  /** `undefined` for a path that nothing is served on. */
  readonly match: Match | undefined;
}

/** Clients ask the same few things over and over. At most 64 KiB of texts. */
const MOST_KEPT = 256;
const LONGEST_KEPT = 256;

/**
 * Finds the place of a request by its raw target. Remembers the places of short paths, since a path can be read in one
 * way only.
 */
export class Locator {
  readonly #routes: RouteTable;
  readonly #known = new BoundedMap<Location>(MOST_KEPT);

  constructor(routes: RouteTable) {
    this.#routes = routes;
  }

  locate(rawTarget: string, host: string | undefined): Location | BadTarget {
    const known = this.#known.get(rawTarget);
    if (known) return known;
    const target = parseTarget(rawTarget, host);
    if ('fault' in target) return target;
    const location = { target, match: this.#routes.match(target.segments) };
    // In absolute-form the reading depends on the Host as well.
    if (rawTarget.startsWith('/') && rawTarget.length <= LONGEST_KEPT && location.match)
      this.#known.set(rawTarget, location);
    return location;
  }
}
