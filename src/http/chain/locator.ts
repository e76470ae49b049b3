import { BoundedMap } from '../../runtime/bounded-map.ts';
import { type BadTarget, parseTarget, type Target } from '../target.ts';

/** A target, and its path in the one form that the router gets to see. */
export interface Location {
  readonly target: Target;
  /** Each segment decoded once and encoded again, without a trailing slash, without the query. */
  readonly path: string;
}

/** Clients ask the same few things over and over. At most 64 KiB of texts. */
const MOST_KEPT = 256;
const LONGEST_KEPT = 256;

/** Reads raw targets. Remembers short ones, since a target can be read in one way only. */
export class Locator {
  readonly #known = new BoundedMap<Location>(MOST_KEPT);

  locate(rawTarget: string, host: string | undefined): Location | BadTarget {
    const known = this.#known.get(rawTarget);
    if (known) return known;
    const target = parseTarget(rawTarget, host);
    if ('fault' in target) return target;
    const location = { target, path: `/${target.segments.map(encodeURIComponent).join('/')}` };
    // In absolute-form the reading depends on the Host as well.
    if (rawTarget.startsWith('/') && rawTarget.length <= LONGEST_KEPT) this.#known.set(rawTarget, location);
    return location;
  }
}
