import { clusterTool } from './cluster-tools.ts';
import { askOracle } from './oracles/ask-oracle.ts';

/** The programs with the scheduler of the newest and of the oldest supported Kubernetes; the go.mod of each has the version. */
const SCHEDULERS = { newest: 'podUsage', oldest: 'podUsageOldest' } as const;

export type Scheduler = keyof typeof SCHEDULERS;

/** Compiles both programs the first time, a minute each. */
export async function buildSchedulers(): Promise<void> {
  for (const tool of Object.values(SCHEDULERS)) await clusterTool(tool);
}

/** The quantities that the code of a scheduler counts for each pod, in the order of `FIGURES`. */
export const countedByScheduler = (
  scheduler: Scheduler,
  pods: readonly unknown[],
): Promise<readonly (readonly string[])[]> => askOracle<readonly string[]>(SCHEDULERS[scheduler], pods);
