import { expect, test } from 'vitest';
import { drawFault, SOAK_FAULTS } from '../../../bench/soak-faults.ts';
import { seededRandom } from '../../../dev/cluster/seeded-random.ts';

const drawMany = (seed: number): { name: string; lastsMs: number }[] => {
  const random = seededRandom(seed);
  return Array.from({ length: 200 }, () => drawFault(random)).map(({ fault, lastsMs }) => ({
    name: fault.name,
    lastsMs,
  }));
};

test('R-19 draws every fault sooner or later, each of one to thirty seconds', () => {
  const drawn = drawMany(1);
  expect(new Set(drawn.map(({ name }) => name))).toEqual(new Set(SOAK_FAULTS.map(({ name }) => name)));
  for (const { lastsMs } of drawn) expect(lastsMs).toSatisfy((ms: number) => ms >= 1_000 && ms <= 30_000);
});

test('R-19 draws the same faults from the same seed, others from another', () => {
  expect(drawMany(1)).toEqual(drawMany(1));
  expect(drawMany(2)).not.toEqual(drawMany(1));
});
