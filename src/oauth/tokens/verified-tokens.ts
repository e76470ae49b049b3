import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Random } from '../../runtime/random.ts';
import { createTextDigest } from './text-digest.ts';
import type { CheckedToken } from './token-check.ts';

/** About 40 MB when full of claims as long as our longest tokens have. */
const CAPACITY = 32_000;

/**
 * Remembers tokens whose text, header, signature and claims were found good. Keyed by a digest, so no token stays in
 * memory.
 */
export interface VerifiedTokens {
  get(text: string): CheckedToken | undefined;
  add(text: string, token: CheckedToken): void;
  drop(text: string): void;
}

export function createVerifiedTokens(random: Random): VerifiedTokens {
  const tokens = new BoundedMap<CheckedToken>(CAPACITY);
  const digest = createTextDigest(random);
  return {
    get: (text) => tokens.get(digest(text)),
    drop: (text) => tokens.delete(digest(text)),
    add: (text, token) => tokens.set(digest(text), token),
  };
}
