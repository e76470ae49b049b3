import { clusterTool } from './cluster-tools.ts';
import { askOracle } from './oracles/ask-oracle.ts';

/** The scheduler of the newest and of the oldest supported Kubernetes, each at the version of its program's go.mod. */
const SCHEDULERS = { newest: 'podUsage', oldest: 'podUsageOldest' } as const;

export type Scheduler = keyof typeof SCHEDULERS;

/** Compiles both programs the first time, a minute each. */
export async function buildSchedulers(): Promise<void> {
  for (const tool of Object.values(SCHEDULERS)) await clusterTool(tool);
}

/** What a scheduler's own code counts for each pod: quantities in the order of `FIGURES`. */
export const countedByScheduler = (
  scheduler: Scheduler,
  pods: readonly unknown[],
): Promise<readonly (readonly string[])[]> => askOracle<readonly string[]>(SCHEDULERS[scheduler], pods);
