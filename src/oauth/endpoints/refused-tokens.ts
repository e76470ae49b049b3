import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { TokenFault } from '../tokens/identity.ts';
import { createTextDigest } from '../tokens/text-digest.ts';

/** When a token becomes good because its key has arrived, it is accepted at most this much later. */
const KEPT_MS = 10_000;

/** About 6 MB when full. */
const CAPACITY = 32_000;

/** Remembers tokens that were found bad a moment ago, by their digests, so that asking again costs no cryptography. */
export interface RefusedTokens {
  get(text: string): TokenFault | undefined;
  add(text: string, fault: TokenFault): void;
}

export function createRefusedTokens(clock: Clock, random: Random): RefusedTokens {
  const refused = new BoundedMap<{ readonly fault: TokenFault; readonly until: number }>(CAPACITY);
  const digest = createTextDigest(random);
  return {
    get: (text) => {
      const known = refused.get(digest(text));
      return known && known.until > clock.monotonic() ? known.fault : undefined;
    },
    add: (text, fault) => refused.set(digest(text), { fault, until: clock.monotonic() + KEPT_MS }),
  };
}
