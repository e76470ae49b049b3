import { randomInt } from 'node:crypto';

/** What passed once with it passes always. Other seeds are for `npm run test:long`, which takes a new one each time. */
const SEED_OF_THE_PROJECT = 20_261_126;

/** Every generated case of a run follows from this one number. */
export const SEED = Number(process.env['TEST_SEED'] ?? SEED_OF_THE_PROJECT);
if (!Number.isInteger(SEED)) throw new Error(`TEST_SEED must be a whole number, not ${process.env['TEST_SEED']}`);

/** How many times its cases a generated test runs; undefined: it is not the long run. */
const LONG = process.env['LONG'];

/** The number of cases of a generated test; outside of the long run a slow test may run fewer. */
export const cases = (whole: number, short = whole): number => (LONG === undefined ? short : whole * Number(LONG));

/** The environment of the long run: a seed that nobody chose, unless one is given, and each test with all its cases. */
export const newCases = () => ({
  TEST_SEED: process.env['TEST_SEED'] ?? `${randomInt(2 ** 31)}`,
  LONG: LONG ?? '1',
});

/** The command that makes the same cases in these files of tests again. */
export const repeatCommand = (files: string): string =>
  LONG === undefined
    ? `TEST_SEED=${SEED} npm test -- ${files}`
    : `LONG=${LONG} TEST_SEED=${SEED} npm run test:long -- ${files}`;
