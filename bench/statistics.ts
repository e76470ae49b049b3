/** The nearest-rank quantile: always a measured value, never one in between. NaN for no values. */
export function quantile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export const median = (values: ArrayLike<number>): number => quantile(values, 0.5);

/** The median of one figure of each round. */
export const medianBy = <Round>(rounds: readonly Round[], figure: (round: Round) => number): number =>
  median(rounds.map(figure));

/** `counted[i] / reference[i]`. Both were measured in the same round, one after the other, so a busy moment affects both. */
export const ratios = (counted: readonly number[], reference: readonly number[]): number[] =>
  counted.map((value, round) => value / (reference[round] ?? Number.NaN));

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * The distance of the means of two samples, in standard errors of their difference: Welch's t, without assuming equal
 * variances.
 */
export function welchT(first: readonly number[], second: readonly number[]): number {
  return (mean(first) - mean(second)) / Math.sqrt(squaredError(first) + squaredError(second));
}

/** The squared standard error of the mean: the sample variance (with n - 1) divided by n. */
function squaredError(values: readonly number[]): number {
  const middle = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return squares / (values.length - 1) / values.length;
}

export interface Sample {
  /** The time in milliseconds. */
  readonly at: number;
  readonly value: number;
}

/** The slope per millisecond, by least squares. NaN for fewer than two samples. */
export function slope(samples: readonly Sample[]): number {
  const middle = { at: mean(samples.map(({ at }) => at)), value: mean(samples.map(({ value }) => value)) };
  const shared = samples.reduce((sum, { at, value }) => sum + (at - middle.at) * (value - middle.value), 0);
  return shared / samples.reduce((sum, { at }) => sum + (at - middle.at) ** 2, 0);
}

/**
 * Counts the values between ascending limits. Each count is of the values up to its limit and above the previous one; the last count is
 * of the values above all limits.
 */
export function histogram(values: readonly number[], limits: readonly number[]): number[] {
  const counts = new Array<number>(limits.length + 1).fill(0);
  for (const value of values) {
    const at = limits.findIndex((limit) => value <= limit);
    const place = at < 0 ? limits.length : at;
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
}
