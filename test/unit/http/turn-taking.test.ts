import { expect, test } from 'vitest';
import { TurnTaking } from '../../../src/http/turn-taking.ts';

const aTurn = () => new Promise((resolve) => setImmediate(resolve));

/** What happened, in its order, until nobody waits any more. */
async function storyOf(
  workers: number,
  again: (worker: number) => boolean = () => false,
): Promise<(number | string)[]> {
  const story: (number | string)[] = [];
  const turns: TurnTaking<number> = new TurnTaking<number>({
    work: (worker) => {
      story.push(worker);
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

test('workers have their turns in the order in which they came, 64 of them before everything else has its own', async () => {
  const story = await storyOf(150);
  expect(story.filter((one) => typeof one === 'number')).toEqual(Array.from({ length: 150 }, (_, worker) => worker));
  expect([story.indexOf('others'), story.indexOf('others', 65)]).toEqual([64, 129]);
});

test('the end is told once, a turn after the last worker', async () => {
  const story = await storyOf(3);
  expect(story).toEqual([0, 1, 2, 'others', 'rest', 'others']);
});

test('a worker that wants another turn comes behind all others', async () => {
  const wants = new Set([0]);
  expect((await storyOf(3, (worker) => wants.delete(worker))).slice(0, 4)).toEqual([0, 1, 2, 0]);
});
