import { expect, test } from 'vitest';
import { TurnTaking } from '../../../src/http/watch/turn-taking.ts';

const aTurn = () => new Promise((resolve) => setImmediate(resolve));

/** What happened, in its order, until nobody waits any more. Each piece of work takes so long. */
async function storyOf(
  workers: number,
  { again = () => false, tookMs = 0 }: { again?: (worker: number) => boolean; tookMs?: number } = {},
): Promise<(number | string)[]> {
  const story: (number | string)[] = [];
  let now = 0;
  const turns: TurnTaking<number> = new TurnTaking<number>({
    clock: { monotonic: () => now },
    work: (worker) => {
      story.push(worker);
      now += tookMs;
      if (again(worker)) turns.add(worker);
    },
    rest: () => story.push('rest'),
  });
  for (let worker = 0; worker < workers; worker++) turns.add(worker);
  for (let turn = 0; turn < 100 && !story.includes('rest'); turn++) {
    await aTurn();
    story.push('others');
  }
  return story;
}

test('workers have their turns in the order in which they came, for 8 ms before everything else has its own', async () => {
  const story = await storyOf(150, { tookMs: 0.25 });
  expect(story.filter((one) => typeof one === 'number')).toEqual(Array.from({ length: 150 }, (_, worker) => worker));
  expect([story.indexOf('others'), story.indexOf('others', 33)]).toEqual([32, 65]);
});

test('64 have a turn together, however little time it takes: what they write costs some after it', async () => {
  const story = await storyOf(150);
  expect([story.indexOf('others'), story.indexOf('others', 65), story.indexOf('others', 130)]).toEqual([64, 129, 152]);
});

test.each([8, 500])('work of %i ms has a turn to itself', async (tookMs) => {
  expect((await storyOf(2, { tookMs })).slice(0, 4)).toEqual([0, 'others', 1, 'others']);
});

test('a worker that always wants another turn leaves others theirs, however short its work', async () => {
  const story = await storyOf(1, { again: () => true });
  expect(story.slice(0, 4)).toEqual([0, 'others', 0, 'others']);
});

test('the end is told once, a turn after the last worker', async () => {
  const story = await storyOf(3);
  expect(story).toEqual([0, 1, 2, 'others', 'rest', 'others']);
});

test('a worker that wants another turn comes behind all others', async () => {
  const wants = new Set([0]);
  const story = await storyOf(3, { again: (worker) => wants.delete(worker) });
  expect(story.slice(0, 5)).toEqual([0, 1, 2, 'others', 0]);
});
