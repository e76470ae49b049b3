import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { atOnce, type Steps, TimeSlices } from '../../src/runtime/time-slices.ts';

/** Slices by a clock that the steps move. */
function started() {
  const clock = { now: 0 };
  const story: string[] = [];
  const slices = new TimeSlices({ monotonic: () => clock.now });
  function* steps(name: string, count: number, stepMs: number): Steps<string> {
    for (let step = 0; step < count; step++) {
      clock.now += stepMs;
      story.push(`${name}${step}`);
      yield;
    }
    return `${name} done`;
  }
  return { clock, story, slices, steps };
}

test('what fits into a slice of 8 ms is done at once, without a promise', () => {
  const { slices, steps, story } = started();
  expect(slices.run(steps('a', 7, 1))).toBe('a done');
  expect(story.length).toBe(7);
});

test('what takes longer is done 8 ms a turn, and resolves with its result', async () => {
  const { slices, steps, story } = started();
  const running = slices.run(steps('a', 20, 1));
  expect([running instanceof Promise, story.length]).toEqual([true, 8]);
  await nextTurn();
  expect(story.length).toBe(16);
  expect(await running).toBe('a done');
});

test('a step that takes longer than a slice has a turn to itself', async () => {
  const { slices, steps, story } = started();
  const running = slices.run(steps('a', 3, 50));
  expect(story).toEqual(['a0']);
  await nextTurn();
  expect(story).toEqual(['a0', 'a1']);
  await running;
});

test('all works together have one slice a turn, in the order in which they came', async () => {
  const { slices, steps, story } = started();
  const first = slices.run(steps('a', 10, 4));
  const second = slices.run(steps('b', 3, 4));
  expect(story).toEqual(['a0', 'a1']);
  await nextTurn();
  expect(story.slice(2)).toEqual(['a2', 'a3']);
  await nextTurn();
  expect(story.slice(4)).toEqual(['b0', 'b1']);
  expect(await Promise.all([first, second])).toEqual(['a done', 'b done']);
});

test('a short work is done at once beside a long one, where the slice of this turn lasts', async () => {
  const { slices, steps } = started();
  const long = slices.run(steps('a', 3, 8));
  await nextTurn();
  await long;
  await nextTurn();
  expect(slices.run(steps('b', 3, 1))).toBe('b done');
  expect(slices.run(steps('c', 3, 1))).toBe('c done');
  expect(slices.run(steps('d', 3, 1))).toBeInstanceOf(Promise);
});

test('what a step throws is thrown, or rejects, and the others go on', async () => {
  const { slices, steps } = started();
  function* broken(step: number): Steps<never> {
    yield* steps('x', step, 4);
    throw new Error('broken');
  }
  expect(() => slices.run(broken(1))).toThrow('broken');
  const later = slices.run(broken(9));
  const other = slices.run(steps('b', 9, 4));
  await expect(later).rejects.toThrow('broken');
  expect(await other).toBe('b done');
});

test('all steps can be done at once', () => {
  expect(atOnce(started().steps('a', 1_000, 1))).toBe('a done');
});
