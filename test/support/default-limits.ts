import { loadConfig } from '../../src/config/load.ts';
import { toHttpLimits } from '../../src/service/http-options.ts';

const noFile = (path: string): string => {
  throw new Error(`the default configuration names no file, and not ${path}`);
};

/** The limits without a configuration file. */
export const defaultLimits = toHttpLimits(loadConfig(undefined, noFile).config);
