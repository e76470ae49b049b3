import { randomBytes } from 'node:crypto';

/** Randomness is passed in as well: ids, salts, jitter. */
export interface Random {
  /** Cryptographically strong bytes. */
  bytes(length: number): Buffer;
  /** A fraction in [0, 1), for jitter; not for secrets. */
  fraction(): number;
}

export const systemRandom: Random = { bytes: (length) => randomBytes(length), fraction: () => Math.random() };
