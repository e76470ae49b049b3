import { hash } from 'node:crypto';
import type { Random } from '../random.ts';
import type { CheckedToken } from './token-check.ts';

/** About 40 MB when full of our longest tokens' claims. */
const CAPACITY = 32_000;

/** Tokens whose text, header, signature and claims were found good. Keyed by a digest: no token stays in memory. */
export interface VerifiedTokens {
  get(text: string): CheckedToken | undefined;
  add(text: string, token: CheckedToken): void;
  drop(text: string): void;
}

export function createVerifiedTokens(random: Random): VerifiedTokens {
  const tokens = new Map<string, CheckedToken>();
  const digest = createDigest(random.bytes(32).toString('hex'));
  return {
    get: (text) => tokens.get(digest(text)),
    drop: (text) => tokens.delete(digest(text)),
    add: (text, token) => {
      const [oldest = ''] = tokens.size >= CAPACITY ? tokens.keys() : [];
      tokens.delete(oldest);
      tokens.set(digest(text), token);
    },
  };
}

/**
 * A secret prefix of fixed length is enough for the key of a map that never leaves the process, and one hash (1 µs) costs
 * less than half of an HMAC: this runs at each request.
 */
function createDigest(secret: string): (text: string) => string {
  return (text) => hash('sha256', secret + text, 'base64');
}
