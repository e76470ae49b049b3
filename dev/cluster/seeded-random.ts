import type { Random } from '../../src/runtime/random.ts';

/** The same seed gives the same sequence on every machine (mulberry32). For names and jitter, never for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const word = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    bytes: (length) => Buffer.from(Array.from({ length }, () => word() & 0xff)),
    fraction: () => word() / 2 ** 32,
  };
}

const hex = (random: Random, digits: number): string =>
  Math.floor(random.fraction() * 16 ** digits)
    .toString(16)
    .padStart(digits, '0');

/** A version 4 UUID from this source of randomness. */
export function uuidFrom(random: Random): string {
  const variant = (8 + Math.floor(random.fraction() * 4)).toString(16);
  return `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-${variant}${hex(random, 3)}-${hex(random, 8)}${hex(random, 4)}`;
}
