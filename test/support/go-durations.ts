import { askOracle } from './oracles/ask-oracle.ts';

/** What Go's own `time.ParseDuration` makes of each text: nanoseconds, or `null` where it refuses the text. */
export const readByGo = (texts: readonly string[]): Promise<readonly (string | null)[]> =>
  askOracle<string | null>('goDurations', texts);
