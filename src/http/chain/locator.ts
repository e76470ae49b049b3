import type { Match, RouteTable } from './route-table.ts';
import { type BadTarget, parseTarget, type Target } from './target.ts';

/** Where a request goes: its target in canonical form, and what is served there. */
export interface Location {
  readonly target: Target;
  /** `undefined` for a path that nothing is served on. */
  readonly match: Match | undefined;
}

/**
 * Clients ask for the same few targets over and over. At most 64 KiB of text. When the map is full it is emptied, so
 * the cost per request does not grow with the number of distinct targets.
 */
const MOST_KEPT = 256;
const LONGEST_KEPT = 256;

/**
 * Finds the place of a request by its raw target. Remembers the places of short paths, since a path can be read in one
 * way only.
 */
export class Locator {
  readonly #routes: RouteTable;
  readonly #known = new Map<string, Location>();

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
      this.#keep(rawTarget, location);
    return location;
  }

  #keep(rawTarget: string, location: Location): void {
    if (this.#known.size >= MOST_KEPT) this.#known.clear();
    this.#known.set(rawTarget, location);
  }
}
