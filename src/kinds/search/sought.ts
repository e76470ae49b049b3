/** What a search looks for. */
export type Sought =
  /** A part of a name, or a whole uid. It has no control character in it. */
  { readonly text: string } | { readonly label: SoughtLabel };

/** A label with exactly this value. */
export interface SoughtLabel {
  readonly key: string;
  readonly value: string;
}

/** How well an object matches: the lower, the better. Labels have one rank. */
export const RANKS = { exact: 0, begins: 1, other: 2 } as const;

export type Rank = (typeof RANKS)[keyof typeof RANKS];
