import { askOracle } from './oracles/ask-oracle.ts';

/** The nanoseconds that Go's `time.ParseDuration` reads in each text, or `null` if it refuses the text. */
export const readByGo = (texts: readonly string[]): Promise<readonly (string | null)[]> =>
  askOracle<string | null>('goDurations', texts);
