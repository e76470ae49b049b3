/** The nearest-rank quantile: a value that was measured, never one in between. NaN for no values. */
export function quantile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export const median = (values: ArrayLike<number>): number => quantile(values, 0.5);

/** `counted[i] / reference[i]`: measured one after the other in one round, so that a busy moment hits both. */
export const ratios = (counted: readonly number[], reference: readonly number[]): number[] =>
  counted.map((value, round) => value / (reference[round] ?? Number.NaN));

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** How far the means of two samples are apart, in standard errors of their difference: Welch's t, equal variances not assumed. */
export function welchT(first: readonly number[], second: readonly number[]): number {
  return (mean(first) - mean(second)) / Math.sqrt(squaredError(first) + squaredError(second));
}

/** Of the mean: the sample variance, by n - 1, over n. */
function squaredError(values: readonly number[]): number {
  const middle = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return squares / (values.length - 1) / values.length;
}
