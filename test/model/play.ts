import { CacheRun } from './cache-run.ts';
import type { Command, Setting } from './commands.ts';

/** A whole run. Throws at the first invariant that does not hold; otherwise ms from the last fault to convergence. */
export async function play(setting: Setting, steps: readonly Command[]): Promise<number> {
  const run = new CacheRun(setting);
  for (const step of steps) await run.take(step);
  return run.finish();
}
