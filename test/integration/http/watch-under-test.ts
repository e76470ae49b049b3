import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from '../../../src/http/app.ts';
import type { ServedList } from '../../../src/http/kinds/list-family.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/waiting.ts';
import { Watcher } from '../../support/watcher.ts';
import { makeCache, makeNode } from '../../unit/resources/node-objects.ts';
import { type AppUnderTest, eventually, listsWith, startApp, type TestParts } from './app-under-test.ts';

export const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';

/** The app on a cache of its own with two nodes, on a clock that the test moves; `nodes` are parts of their list. */
export async function start(change: Partial<TestParts> = {}, nodes: Partial<ServedList> = {}) {
  const cache = makeCache();
  for (const name of ['node-a', 'node-b']) cache.putNode(makeNode(name));
  const clock = new FakeClock();
  const random = { bytes: (length: number) => Buffer.alloc(length, 1), fraction: () => 0 };
  const app = await startApp(
    { clock, random, lists: listsWith({ watches: cache.lister, lister: cache.lister, ...nodes }), ...change },
    createApp,
    30_000,
  );
  atEnd(async () => {
    const stopping = { done: false };
    const stopped = app.stop().then(() => {
      stopping.done = true;
    });
    await pass(clock, () => stopping.done);
    await stopped;
  });
  return { app, cache, clock };
}

/** Lets time pass until it is so, with a moment of real time for the sockets at each step. */
export async function pass(clock: FakeClock, isSo: () => boolean, stepMs = 20): Promise<void> {
  const turn = async (): Promise<void> => {
    await clock.advance(stepMs);
    await sleep(1);
  };
  await waitFor(isSo, Boolean, { turn, looks: 10_000 });
}

/** So many milliseconds, look by look. */
export async function advance(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) await clock.advance(Math.min(1_000, ms - passed));
}

export async function open(
  { url }: AppUnderTest,
  query = '',
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<Watcher> {
  const watcher = await Watcher.open(
    `${url}${LIST}?watch=true${query}`,
    { authorization: 'Bearer good', ...headers },
    method,
  );
  atEnd(() => watcher.close());
  return watcher;
}

/** Open, and told of the first state. */
export async function watching(app: AppUnderTest, query = ''): Promise<Watcher> {
  const watcher = await open(app, query);
  await eventually(() => watcher.story.at(-1) === 'BOOKMARK');
  return watcher;
}

/** The line of one series. */
export const metric = async ({ parts }: AppUnderTest, series: string): Promise<string | undefined> =>
  (await parts.registry.metrics()).split('\n').find((line) => line.startsWith(`${series} `));

/** The line of the access log. */
export const lineOf = (app: AppUnderTest) =>
  app.lines.find(({ queryParameters }) => `${queryParameters}`.includes('watch'));
