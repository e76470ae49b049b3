import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Largest } from '../support/largest.ts';
import { checkSizesAsync } from '../support/property.ts';
import { commandsOf, settings } from './commands.ts';
import { play } from './play.ts';

const GIVEN = process.env['MODEL_RUNS'];
const RUNS = { cases: Number(GIVEN ?? 10_000), short: Number(GIVEN ?? 150) };

test('I1, I2, I3, I4, I5, I6, I7, I8 hold after each step of any run', async () => {
  let longest = 0;
  const largest = new Largest('the model of the cache', 'steps');
  await checkSizesAsync(
    (sizes) =>
      fc.asyncProperty(settings, commandsOf(sizes), async (setting, steps) => {
        largest.see(steps.length);
        longest = Math.max(longest, await play(setting, steps));
      }),
    RUNS,
  );
  process.stdout.write(`model of the cache: converged within ${Math.ceil(longest / 1000)} s after each run\n`);
  largest.expectAtLeast(60);
  expect(longest).toBeGreaterThan(0);
});
