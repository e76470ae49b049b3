import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { compare, DIFFERENCES } from '../support/kubeconfigs/differences.ts';
import { EXAMPLES } from '../support/kubeconfigs/examples.ts';
import { Fixtures } from '../support/kubeconfigs/fixtures.ts';
import { clientGoOutcomes, type Outcome, ourOutcome, type Written } from '../support/kubeconfigs/outcomes.ts';
import { situation } from '../support/kubeconfigs/situations.ts';
import { SEED } from '../support/seed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SITUATIONS = 3_000;
/** Some run a plugin, which is a process or three. */
const AT_ONCE = 16;

let all: readonly {
  readonly written: Written;
  readonly ours: Outcome;
  readonly theirs: Outcome;
  readonly verdict: string;
}[];

beforeAll(async () => {
  const fixtures = new Fixtures(temporaryFolder().folder);
  const situations = [...EXAMPLES, ...fc.sample(situation, { numRuns: SITUATIONS, seed: SEED })];
  const written = situations.map((one) => ({ situation: one, paths: fixtures.write(one) }));
  const theirs = await clientGoOutcomes(written, fixtures);
  const ours: Outcome[] = [];
  for (let at = 0; at < written.length; at += AT_ONCE) {
    const some = written.slice(at, at + AT_ONCE);
    ours.push(...(await Promise.all(some.map((one) => ourOutcome(one, fixtures)))));
  }
  all = written.map((one, at) => {
    const pair = { ours: ours[at] as Outcome, theirs: theirs[at] as Outcome };
    return { written: one, ...pair, verdict: compare(pair.ours, pair.theirs) };
  });
});

test(`KC-01 ${SITUATIONS} kubeconfigs mean what they mean to client-go, or are refused (seed ${SEED})`, () => {
  expect(all.length).toBe(SITUATIONS + EXAMPLES.length);
  const counts = new Map<string, number>();
  for (const { verdict } of all) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  console.log(`${all.length} kubeconfigs:`, Object.fromEntries([...counts].toSorted(([, a], [, b]) => b - a)));
  const different = all.filter(({ verdict }) => verdict === 'different');
  expect(
    different.slice(0, 3).map(({ written: { situation }, ours, theirs }) => ({ situation, ours, theirs })),
  ).toEqual([]);
  expect(counts.get('equal')).toBeGreaterThan(SITUATIONS / 4);
});

test('KC-01 every deliberate difference is met', () => {
  const met = new Set(all.map(({ verdict }) => verdict));
  expect(DIFFERENCES.filter((name) => !met.has(name))).toEqual([]);
});
