import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { FIGURES, toPodUsage } from '../../src/nodes/usage/pod-usage.ts';
import { parseQuantity } from '../../src/nodes/usage/quantity.ts';
import { buildSchedulers, countedByScheduler, type Scheduler } from '../support/counted-pods.ts';
import { type ResizedPod, resizedPod } from '../support/resized-pods.ts';
import { SEED } from '../support/seed.ts';

const PODS = 32_000;

let pods: readonly ResizedPod[];
beforeAll(async () => {
  await buildSchedulers();
  pods = fc.sample(resizedPod, { numRuns: PODS, seed: SEED });
});

const reports = ({ status }: ResizedPod): boolean =>
  ['containerStatuses', 'initContainerStatuses', 'resources', 'allocatedResources', 'conditions'].some(
    (member) => status[member] !== undefined && JSON.stringify(status[member]) !== '[]',
  );

/** What the oldest supported Kubernetes counts otherwise than the newest, and so than we do. Each pod is in the first that fits. */
const OTHERWISE: readonly { readonly pod: string; readonly why: string; is(pod: ResizedPod): boolean }[] = [
  {
    pod: 'with resources of its own',
    why: 'the feature PodLevelResources came in 1.32 and is on from 1.34',
    is: ({ spec }) => spec['resources'] !== undefined,
  },
  {
    pod: 'whose kubelet reports its resources',
    why: 'resizes in place were off by default until 1.33, and the status did not count',
    is: reports,
  },
];

/** The pods of which our sums are not those of the scheduler. */
async function differing(scheduler: Scheduler): Promise<ResizedPod[]> {
  const rows = await countedByScheduler(scheduler, pods);
  expect(rows).toHaveLength(PODS);
  return pods.filter((pod, at) => {
    const ours = toPodUsage(pod, parseQuantity).map(({ nano }) => nano);
    const theirs = rows[at]?.map((quantity) => parseQuantity(quantity)?.nano);
    return FIGURES.some((_, figure) => ours[figure] !== theirs?.[figure]);
  });
}

test(`counts ${PODS} pods as the scheduler of the newest Kubernetes does (seed ${SEED})`, async () => {
  const found = await differing('newest');
  const count = (is: (pod: ResizedPod) => boolean): number => pods.filter(is).length;
  console.info(`${PODS} pods, of which the kubelet reports on ${count(reports)}: ${found.length} differences`);
  expect(found.slice(0, 3).map((pod) => JSON.stringify(pod))).toEqual([]);
});

test('counts a pod otherwise than the oldest supported Kubernetes only for a reason that is known', async () => {
  const found = await differing('oldest');
  const reasons = found.map((pod) => OTHERWISE.find(({ is }) => is(pod))?.pod ?? JSON.stringify(pod));
  for (const { pod, why } of OTHERWISE)
    console.info(`a pod ${pod}: ${reasons.filter((one) => one === pod).length} differences, for ${why}`);
  console.info(`${PODS - found.length} of ${PODS} pods are counted as by the oldest`);
  expect(new Set(reasons)).toEqual(new Set(OTHERWISE.map(({ pod }) => pod)));
});
