import { describe, expect, test } from 'vitest';
import { drawFault, printSoak, SOAK_FAULTS, type SoakResults } from '../../../bench/soak.ts';
import { seededRandom } from '../../../dev/cluster/seeded-random.ts';
import { rowOf } from './rows.ts';

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

const PROBES = { probes: 36_000, statuses: { 200: 36_000 }, p50Ms: 1, p99Ms: 10, maxMs: 20 };

describe('bench results of a soak', () => {
  const soak: SoakResults = {
    minutes: 60,
    seed: 7,
    nodes: 1_000,
    pods: 10_000,
    outageMinutes: 10,
    faults: ['503, 3 s', 'outage, 600 s'],
    probes: PROBES,
    memory: { first: 200e6, last: 200.5e6, minutes: 50 },
    slopePerHour: 0.6e6,
    before: { all: 30, sockets: 9 },
    after: { all: 31, sockets: 9 },
  };

  test('R-19 judge the slope of memory and tell what was open before and after', () => {
    const text = printSoak(soak);
    expect(rowOf(text, 'resident memory an hour, over the last 50.0 min, 200 MB to 201 MB')).toBe(
      '+0.60 MB | < 1 MB | met',
    );
    expect(rowOf(text, 'open files before, after')).toBe('30 (9 sockets), 31 (9 sockets) | as before');
    expect(text).toContain('Repeat it with --seed 7. Faults: 503, 3 s; outage, 600 s.');
  });

  test('R-11 do not round one lost probe of 36,000 up', () => {
    const text = printSoak({
      ...soak,
      probes: { ...PROBES, statuses: { 200: 35_999, 503: 1 }, missed: { firstMs: 7_000, lastMs: 7_000 } },
    });
    expect(rowOf(text, 'answered 200')).toBe('99.99 % | 100 % | MISSED');
    expect(text).toContain('Other answers: 503 1 times, from second 7.00 to second 7.00.');
  });

  test('R-19 leave the slope of a short soak unjudged', () => {
    const text = printSoak({ ...soak, minutes: 2, slopePerHour: 140e6 });
    expect(rowOf(text, 'resident memory an hour, over the last 50.0 min, 200 MB to 201 MB')).toBe(
      '+140 MB | < 1 MB | –',
    );
  });
});
