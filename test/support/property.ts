import { relative } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { cases, repeatCommand, SEED } from './seed.ts';

export interface Cases<Values> {
  /** Default: 100. The long run multiplies them (`LONG`). */
  readonly cases?: number;
  /** The number of cases outside the long run. Default: `cases`. */
  readonly short?: number;
  /** Cases that run before the generated ones. */
  readonly examples?: Values[];
  /** Reports the first failing case as it is, without shrinking it. */
  readonly endOnFailure?: true;
}

/** Runs the cases that follow from the seed. A failure shows the seed, the smallest failing case and the command to run it again. */
export function check<Values>(property: fc.IProperty<Values>, options: Cases<Values> = {}): void {
  fc.assert(property, parametersOf(options));
}

export function checkAsync<Values>(property: fc.IAsyncProperty<Values>, options: Cases<Values> = {}): Promise<void> {
  return fc.assert(property, parametersOf(options));
}

function parametersOf<Values>({
  cases: whole = 100,
  short = whole,
  examples = [],
  ...rest
}: Cases<Values>): fc.Parameters<Values> {
  return { ...rest, examples, numRuns: examples.length + cases(whole, short), seed: SEED, reporter: report };
}

/** Bounds for the generators of fast-check. */
interface Length {
  readonly minLength: number;
  readonly maxLength: number;
  readonly size: 'max';
}

/** The sizes of the parts of a case: any size, or, in the largest cases, always the greatest. */
export interface Sizes {
  readonly isLargest: boolean;
  upTo(most: number, least?: number): Length;
}

const ANY_SIZE: Sizes = {
  isLargest: false,
  upTo: (most, least = 0) => ({ minLength: least, maxLength: most, size: 'max' }),
};
const LARGEST: Sizes = {
  isLargest: true,
  upTo: (most) => ({ minLength: most, maxLength: most, size: 'max' }),
};
const FEW = { cases: 3, short: 3 };

/** Checks a property with cases of any size, and then with three of the largest, because generators prefer small cases. */
export function checkSizes<Values>(build: (sizes: Sizes) => fc.IProperty<Values>, options: Cases<Values> = {}): void {
  check(build(ANY_SIZE), options);
  check(build(LARGEST), { ...options, ...FEW, examples: [] });
}

export async function checkSizesAsync<Values>(
  build: (sizes: Sizes) => fc.IAsyncProperty<Values>,
  options: Cases<Values> = {},
): Promise<void> {
  await checkAsync(build(ANY_SIZE), options);
  await checkAsync(build(LARGEST), { ...options, ...FEW, examples: [] });
}

function report<Values>(details: fc.RunDetails<Values>): void {
  if (!details.failed) return;
  const file = relative(process.cwd(), expect.getState().testPath ?? '');
  const cause = details.errorInstance;
  throw new Error(`${fc.defaultReportMessage(details)}\n${cause}\nAgain: ${repeatCommand(file)}`, { cause });
}
