import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { FIGURES, toPodUsage } from '../../src/nodes/usage/pod-usage.ts';
import { parseQuantity } from '../../src/nodes/usage/quantity.ts';
import { countedByScheduler } from '../support/counted-pods.ts';
import { resizedPod } from '../support/resized-pods.ts';
import { SEED } from '../support/seed.ts';

const PODS = 32_000;

let pods: ReturnType<typeof sample>;
const sample = () => fc.sample(resizedPod, { numRuns: PODS, seed: SEED });
beforeAll(() => {
  pods = sample();
});

test(`counts ${PODS} pods as the scheduler does (seed ${SEED})`, async () => {
  const rows = await countedByScheduler(pods);
  expect(rows).toHaveLength(PODS);
  for (const [at, pod] of pods.entries()) {
    const ours = toPodUsage(pod, parseQuantity).map(({ nano }) => nano);
    const theirs = rows[at]?.map((quantity) => parseQuantity(quantity)?.nano);
    expect(ours, `${FIGURES} of ${JSON.stringify(pod)}`).toEqual(theirs);
  }
});
