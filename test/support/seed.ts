import { randomInt } from 'node:crypto';

/** The seed of `npm test`, with which a test that has passed once always passes. `npm run test:long` uses a new one each time. */
const SEED_OF_THE_PROJECT = 20_261_126;

/** Every generated case of a run follows from this one number. */
export const SEED = wholeNumber('TEST_SEED') ?? SEED_OF_THE_PROJECT;

/** The factor by which the long run multiplies the cases. */
const LONG = wholeNumber('LONG') ?? 1;
/** Only `npm run test:long` sets this variable. */
const isLongRun = process.env['GENERATED_TESTS'] === 'long';

/** The number of cases of a generated test; outside of the long run a slow test may run fewer. */
export const cases = (whole: number, short = whole): number => (isLongRun ? whole * LONG : short);

/** The environment of the long run: a random seed, unless one is given, and all cases. */
export const newCases = () => ({
  TEST_SEED: `${wholeNumber('TEST_SEED') ?? randomInt(2 ** 31)}`,
  GENERATED_TESTS: 'long',
  LONG: `${LONG}`,
});

/** A variable of the environment; `undefined` when it is not set. */
function wholeNumber(name: string): number | undefined {
  const text = process.env[name];
  if (text === undefined) return undefined;
  if (!/^[0-9]{1,15}$/.test(text)) throw new Error(`${name} must be a whole number, not ${JSON.stringify(text)}`);
  return Number(text);
}

/** These settings change how many cases three of the tests run. */
const COUNTS = ['MODEL_RUNS', 'FUZZ_REQUESTS'];

/** The command that runs the same cases of these test files again. */
export function repeatCommand(files: string): string {
  const given = [...COUNTS, 'LONG'].flatMap((name) => (process.env[name] ? [`${name}=${process.env[name]}`] : []));
  const script = isLongRun ? 'npm run test:long' : 'npm test';
  return `${[...given, `TEST_SEED=${SEED}`].join(' ')} ${script} -- ${files}`;
}
