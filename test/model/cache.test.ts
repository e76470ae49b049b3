import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Largest } from '../support/largest.ts';
import { commands, settings } from './commands.ts';
import { play } from './play.ts';

const RUNS = Number(process.env['MODEL_RUNS'] ?? 300);
const SEED = Number(process.env['MODEL_SEED'] ?? Date.now() % 2 ** 31);

test('I1, I2, I3, I4, I5, I6, I7, I8 hold after each step of any run', async () => {
  process.stdout.write(`model of the cache: MODEL_RUNS=${RUNS} MODEL_SEED=${SEED}\n`);
  let longest = 0;
  const largest = new Largest('the model of the cache', 'steps');
  const property = fc.asyncProperty(settings, commands, async (setting, steps) => {
    largest.see(steps.length);
    longest = Math.max(longest, await play(setting, steps));
  });
  await fc.assert(property, { numRuns: RUNS, seed: SEED, includeErrorInReport: true });
  process.stdout.write(`model of the cache: converged within ${Math.ceil(longest / 1000)} s after each run\n`);
  largest.expectAtLeast(Math.min(30, RUNS));
  expect(longest).toBeGreaterThan(0);
});
