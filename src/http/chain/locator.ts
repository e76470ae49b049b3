import type { Match, RouteTable } from './route-table.ts';
import { type BadTarget, parseTarget, type Target } from './target.ts';

/** Where a request goes: its target in canonical form, and what is served there. */
export interface Location {
  readonly target: Target;
  /** `undefined` for a path that nothing is served on. */
  readonly match: Match | undefined;
}

/** Clients ask the same few things over and over. At most 64 KiB of texts; when full, all go, so a flood of new ones costs no more than none. */
const MOST_KEPT = 256;
const LONGEST_KEPT = 256;

/** Finds a request's place by its raw target; places of short paths are remembered, since each has one reading only. */
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
