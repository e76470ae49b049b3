import { seededRandom } from '../../../dev/cluster/seeded-random.ts';

/** The random choices of generators of cases. */
export interface Chance {
  below(end: number): number;
  oneOf<T>(of: readonly T[]): T;
  happens(share: number): boolean;
  /** A text of `least` to `most` parts. */
  text(of: readonly string[], least: number, most: number): string;
}

/** Random choices that follow from a seed, so that it gives the same cases on every machine. */
export function chanceOf(seed: number): Chance {
  const random = seededRandom(seed);
  const below = (end: number): number => Math.floor(random.fraction() * end);
  const oneOf = <T>(of: readonly T[]): T => of[below(of.length)] as T;
  return {
    below,
    oneOf,
    happens: (share) => random.fraction() < share,
    text: (of, least, most) => Array.from({ length: least + below(most - least + 1) }, () => oneOf(of)).join(''),
  };
}
