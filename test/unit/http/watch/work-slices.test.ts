import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { WorkSlices } from '../../../../src/http/watch/work-slices.ts';
import { atEnd } from '../../../support/at-end.ts';

const aTurn = () => new Promise((resolve) => setImmediate(resolve));

/** What happened, in its order, until nobody waits any more. Each piece of work takes so long. `others` stands for all turns of others in a row. */
async function storyOf(
  workers: number,
  { again = () => false, tookMs = 0 }: { again?: (worker: number) => boolean; tookMs?: number } = {},
): Promise<(number | string)[]> {
  const story: (number | string)[] = [];
  let now = 0;
  const slices: WorkSlices<number> = new WorkSlices<number>({
    clock: { monotonic: () => now },
    work: (worker) => {
      story.push(worker);
      now += tookMs;
      if (again(worker)) slices.add(worker);
    },
    rest: () => story.push('rest'),
  });
  for (let worker = 0; worker < workers; worker++) slices.add(worker);
  for (let turn = 0; turn < 500 && !story.includes('rest'); turn++) {
    await aTurn();
    if (story.at(-1) !== 'others') story.push('others');
  }
  return story;
}

test('workers have their slices in the order in which they came, for 8 ms before everything else has its own', async () => {
  const story = await storyOf(150, { tookMs: 0.25 });
  expect(story.filter((one) => typeof one === 'number')).toEqual(Array.from({ length: 150 }, (_, worker) => worker));
  expect([story.indexOf('others'), story.indexOf('others', 33)]).toEqual([32, 65]);
});

test('64 have a slice together, however little time it takes: what they write costs some after it', async () => {
  const story = await storyOf(150);
  expect([story.indexOf('others'), story.indexOf('others', 65), story.indexOf('others', 130)]).toEqual([64, 129, 152]);
});

test.each([8, 500])('work of %i ms has a slice to itself', async (tookMs) => {
  expect((await storyOf(2, { tookMs })).slice(0, 4)).toEqual([0, 'others', 1, 'others']);
});

test('a worker that always wants another slice leaves others theirs, however short its work', async () => {
  const story = await storyOf(1, { again: () => true });
  expect(story.slice(0, 4)).toEqual([0, 'others', 0, 'others']);
});

test('the end is told once, a turn after the last worker', async () => {
  const story = await storyOf(3);
  expect(story).toEqual([0, 1, 2, 'others', 'rest', 'others']);
});

test('a worker that wants another slice comes behind all others', async () => {
  const wants = new Set([0]);
  const story = await storyOf(3, { again: (worker) => wants.delete(worker) });
  expect(story.slice(0, 5)).toEqual([0, 1, 2, 'others', 0]);
});

test('connections that wait to be accepted are let in between two slices, many of them', async () => {
  let accepted = 0;
  let turns = 0;
  let now = 0;
  const server = createServer((socket) => {
    accepted++;
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clients = Array.from({ length: 160 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  atEnd(() => {
    for (const client of clients) client.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => {
    const busy: WorkSlices<number> = new WorkSlices<number>({
      clock: { monotonic: () => now },
      work: (worker) => {
        turns++;
        now += 8;
        if (accepted < clients.length) busy.add(worker);
      },
      rest: resolve,
    });
    busy.add(0);
  });
  expect(turns).toBeLessThan(clients.length / 4);
});

test.each([8, 2])('turns of others that are long leave work of %i ms a quarter of the time', async (tookMs) => {
  let now = 0;
  const worked: number[] = [];
  const slices: WorkSlices<number> = new WorkSlices<number>({
    clock: { monotonic: () => now },
    work: (worker) => {
      worked.push(now);
      now += tookMs;
      if (worked.length < 3) slices.add(worker);
    },
    rest: () => {},
  });
  slices.add(0);
  while (worked.length < 3) {
    await aTurn();
    now += tookMs;
  }
  expect(worked).toEqual([0, 4 * tookMs, 8 * tookMs]);
});
