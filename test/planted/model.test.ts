import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { BUGS } from '../support/planted/bugs.ts';
import { type Outcome, PROJECT, runVitest } from './vitest-run.ts';

const CONFIG = join(PROJECT, 'test', 'support', 'planted', 'model.config.ts');

/** Which invariants may be the first to see it. */
const SEEN_BY: Readonly<Record<string, RegExp>> = {
  'order of events': /I[1234]/,
  'atomic swap': /I[34]/,
  'resume version': /I[23]/,
  'epoch rule': /I[24]/,
  'request budget': /I5/,
  availability: /I6/,
  bounded: /I7/,
  'no silent stop': /I8/,
  converge: /I1/,
};

/** A fixed seed: whether a bug is seen must not depend on luck. The quickest is seen in the first runs, the slowest in some hundreds. */
const RUNS = { MODEL_RUNS: '4000', TEST_SEED: '1' };
const RUNS_MS = 900_000;
const AT_ONCE = 3;

describe('the model of the cache', () => {
  const outcomes = new Map<string, Outcome>();
  beforeAll(async () => {
    const left = Object.keys(BUGS);
    const worker = async (): Promise<void> => {
      for (let bug = left.pop(); bug !== undefined; bug = left.pop()) outcomes.set(bug, await runWith(bug));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }, RUNS_MS);

  test('passes on the source as it is, in the way that the bugs are planted', async () => {
    const { passed, failed } = await runVitest(['--config', CONFIG], { env: { MODEL_RUNS: '300', TEST_SEED: '1' } });
    expect([passed, failed]).toEqual([1, []]);
  });

  test.each(Object.keys(BUGS))('sees this: %s', (bug) => {
    const [rule = ''] = bug.split(':');
    const [said = ''] = outcomes.get(bug)?.messages ?? [];
    const [, invariant = said] = /Violation: (I\d)/.exec(said) ?? [];
    expect(invariant).toMatch(SEEN_BY[rule] ?? /never/);
  });
});

const runWith = (bug: string): Promise<Outcome> =>
  runVitest(['--config', CONFIG], { env: { ...RUNS, PLANTED_FAULT: bug } });
