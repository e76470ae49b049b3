import { seededRandom } from '../../../dev/cluster/seeded-random.ts';

/** What generators of cases ask of a seed. */
export interface Chance {
  below(end: number): number;
  oneOf<T>(of: readonly T[]): T;
  happens(share: number): boolean;
  /** So many of them, joined. */
  text(of: readonly string[], least: number, most: number): string;
}

/** The same seed gives the same cases on every machine. */
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
