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
  // In the order of expiry, since all entries are kept for the same time: the first is always the oldest.
  const refused = new Map<string, { readonly fault: TokenFault; readonly until: number }>();
  const digest = createTextDigest(random);
  const dropOverdue = (now: number): void => {
    for (const [key, { until }] of refused) {
      if (until > now && refused.size < CAPACITY) break;
      refused.delete(key);
    }
  };
  return {
    get: (text) => {
      const known = refused.get(digest(text));
      return known && known.until > clock.monotonic() ? known.fault : undefined;
    },
    add: (text, fault) => {
      const now = clock.monotonic();
      const key = digest(text);
      refused.delete(key);
      dropOverdue(now);
      refused.set(key, { fault, until: now + KEPT_MS });
    },
  };
}
