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
  const digest = createDigest(random.bytes(BLOCK_BYTES));
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

/** The block of SHA-256, and so the longest key that HMAC takes as it is. */
const BLOCK_BYTES = 64;

/**
 * HMAC-SHA-256 by its definition (RFC 2104 section 2), from two one-shot hashes: a tenth of what an Hmac object costs, and
 * this runs at each request.
 */
function createDigest(key: Buffer): (text: string) => string {
  const inner = key.map((byte) => byte ^ 0x36);
  const outer = key.map((byte) => byte ^ 0x5c);
  return (text) => {
    const message = hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'buffer');
    return hash('sha256', Buffer.concat([outer, message]), 'base64');
  };
}
