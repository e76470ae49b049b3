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

/** These change the number of cases of two tests. */
const COUNTS = ['MODEL_RUNS', 'FUZZ_REQUESTS'];

/** The command that makes the same cases in these files of tests again. */
export function repeatCommand(files: string): string {
  const given = [...COUNTS, 'LONG'].flatMap((name) => (process.env[name] ? [`${name}=${process.env[name]}`] : []));
  const script = LONG === undefined ? 'npm test' : 'npm run test:long';
  return `${[...given, `TEST_SEED=${SEED}`].join(' ')} ${script} -- ${files}`;
}
