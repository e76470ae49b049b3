import { type Bench, measureOn } from './measure.ts';
import { startSimulated } from './peers/simulated.ts';
import type { Measured } from './results.ts';

export interface CurveResults {
  readonly measured: readonly Measured[];
}

const CURVE_SIZES: readonly number[] = [10, 100, 1_000, 5_000, 15_000];

/** The same measurements over sizes: what a node more costs. */
export async function measureCurve(bench: Bench): Promise<CurveResults> {
  const measured: Measured[] = [];
  for (const nodes of CURVE_SIZES) {
    const cluster = await startSimulated(nodes);
    measured.push(await measureOn(bench, cluster, []));
    await cluster.stop();
  }
  return { measured };
}
