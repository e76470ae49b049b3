import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { clusterTool } from './cluster-tools.ts';

/** The scheduler of the newest and of the oldest supported Kubernetes, each at the version of its program's go.mod. */
const SCHEDULERS = { newest: 'podUsage', oldest: 'podUsageOldest' } as const;

export type Scheduler = keyof typeof SCHEDULERS;

/** Compiles both programs the first time, a minute each. */
export async function buildSchedulers(): Promise<void> {
  for (const tool of Object.values(SCHEDULERS)) await clusterTool(tool);
}

/** What a scheduler's own code counts for each pod: quantities in the order of `FIGURES`. */
export async function countedByScheduler(
  scheduler: Scheduler,
  pods: readonly unknown[],
): Promise<readonly (readonly string[])[]> {
  const program = spawn(await clusterTool(SCHEDULERS[scheduler]), [], { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(program, 'close');
  program.stdin.end(JSON.stringify(pods));
  const [rows, complaint, [code]] = await Promise.all([text(program.stdout), text(program.stderr), ended]);
  if (code !== 0) throw new Error(`the ${scheduler} scheduler's sums ended with ${code}: ${complaint}`);
  return JSON.parse(rows) as string[][];
}
