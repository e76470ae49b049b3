/** The nearest-rank quantile: a value that was measured, never one in between. NaN for no values. */
export function quantile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export const median = (values: ArrayLike<number>): number => quantile(values, 0.5);

/** `counted[i] / reference[i]`: measured one after the other in one round, so that a busy moment hits both. */
export const ratios = (counted: readonly number[], reference: readonly number[]): number[] =>
  counted.map((value, round) => value / (reference[round] ?? Number.NaN));
