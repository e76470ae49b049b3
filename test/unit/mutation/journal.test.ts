import { expect, test } from 'vitest';
import { type Entry, outcomeOf } from '../../mutation/journal.ts';
import { makePlan } from '../../mutation/plan.ts';

const began = (mutant: number): Entry => ({ what: 'began', mutant, tests: 'a.test.ts' });

test('a mutant that was under way when the run was stopped is neither killed nor tried', () => {
  const { killed, tried, ends } = outcomeOf([began(1), { what: 'stopped', mutant: 1, tests: 'a.test.ts' }]);
  expect([killed.size, tried.size, ends]).toEqual([0, 0, 0]);
});

test('samples of other offsets are of the same size and share no mutant', () => {
  const sampleOf = (offset: number): readonly number[] =>
    makePlan({ names: ['src/namespaces'], since: undefined, sample: 4, offset }).mutants.map(({ number }) => number);
  const [first, second] = [sampleOf(0), sampleOf(1)];
  expect([first.length, second.length, new Set([...first, ...second]).size]).toEqual([4, 4, 8]);
});
