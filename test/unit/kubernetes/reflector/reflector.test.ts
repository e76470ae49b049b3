import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import type { Failure } from '../../../../src/kubernetes/reflector/failure.ts';
import { StoreReflector } from '../../../../src/kubernetes/reflector/reflector.ts';
import type { CheckPlan } from '../../../../src/kubernetes/reflector/self-check.ts';
import { TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { MapStore } from '../../../support/map-store.ts';
import { tellMeasured } from '../../../support/measured.ts';
import { bookmark, event, initialEventsEnd, measured, node } from '../objects.ts';
import { page, ScriptedSource } from './scripted-source.ts';

const noJitter = { bytes: (length: number) => Buffer.alloc(length), fraction: () => 0 };
const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function start(plan: CheckPlan = { longestPeriodMs: 3_600_000 }) {
  const source = new ScriptedSource();
  const store = new MapStore();
  const clock = new FakeClock();
  const { metrics, value } = measured();
  const lines: { level: number; msg: string; end?: string }[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const reflector = new StoreReflector({
    name: 'nodes',
    source,
    store,
    clock,
    random: noJitter,
    slices: new TimeSlices(clock),
    logger,
    metrics,
    plan,
  });
  const controller = new AbortController();
  const running = reflector.run(controller.signal);
  const stop = async (): Promise<void> => {
    controller.abort();
    await running;
  };
  stops.push(stop);
  await clock.advance(0);
  return { source, store, clock, value, lines, reflector, stop };
}

/** Synced by a WatchList stream that goes on as the watch: nodes a at 10 and b at 20, version 20. */
async function startSynced() {
  const parts = await start();
  const { sink } = parts.source.lastWatch;
  sink.accepted();
  sink.event(event('ADDED', node('a', '10')));
  sink.event(event('ADDED', node('b', '20')));
  sink.event(initialEventsEnd('20'));
  return parts;
}

/** The same by pages, where the server has no WatchList; the watch after them was accepted. */
async function startPaged() {
  const parts = await start();
  parts.source.answerLists(page([node('a', '10'), node('b', '20')], '20'));
  parts.source.lastWatch.end({ kind: 'unsupported' });
  await parts.clock.advance(0);
  parts.source.lastWatch.sink.accepted();
  return parts;
}

/** A watch that lives on a bookmark. */
async function quietMinute(source: ScriptedSource, clock: FakeClock): Promise<void> {
  source.lastWatch.sink.accepted();
  source.lastWatch.sink.bytes();
  await clock.advance(60_000);
}

describe('reflector start', () => {
  test('asks for the newest state as a stream, with bookmarks, and shows it in one step at its end', async () => {
    const { source, store, reflector } = await start();
    const { request, sink } = source.lastWatch;
    expect(request).toEqual({ resourceVersion: '', timeoutSeconds: 300, initialEvents: true });
    sink.accepted();
    sink.event(event('ADDED', node('a', '10')));
    expect([store.size, reflector.hasSynced()]).toEqual([0, false]);
    sink.event(event('MODIFIED', node('a', '11')));
    sink.event(event('ADDED', node('b', '12')));
    sink.event(event('DELETED', node('b', '13')));
    sink.event(initialEventsEnd('13'));
    expect([store.versions(), store.replacements, reflector.hasSynced()]).toEqual([['a@11'], 1, true]);
  });

  test('goes on watching in the stream that brought the state', async () => {
    const { source, store, value } = await startSynced();
    source.lastWatch.sink.event(event('MODIFIED', node('a', '21')));
    expect(store.versions()).toEqual(['a@21', 'b@20']);
    expect(source.watches.length).toBe(1);
    expect(await value('reflector_lists_total', { result: 'ok' })).toBe(1);
  });

  test('lists in pages where the stream is not supported, then watches from the version of the list', async () => {
    const { source, store, clock } = await start();
    source.answerLists(page([node('a', '10')], '20', 'more'), page([node('b', '20')], '20'));
    source.lastWatch.end({ kind: 'unsupported' });
    await clock.advance(0);
    expect(source.lists).toEqual([
      { version: '', limit: 100 },
      { version: '', limit: 500, continueToken: 'more' },
    ]);
    expect([store.versions(), store.replacements]).toEqual([['a@10', 'b@20'], 1]);
    expect(source.lastWatch.request).toEqual({ resourceVersion: '20', timeoutSeconds: 300 });
  });

  test('lists in pages where the stream has no end of its initial events', async () => {
    const { source, clock } = await start();
    source.lastWatch.sink.accepted();
    source.lastWatch.end(source.lastWatch.sink.event(bookmark('20')) ?? { kind: 'closed' });
    await clock.advance(0);
    expect(source.lists.length).toBe(1);
  });

  /** A server or proxy that drops bookmarks: what changes comes, the end of the first state never does. */
  const LOADS: Readonly<Record<string, (second: number) => ReturnType<typeof event>[]>> = {
    'changes, new objects and removals': (second) => [
      event('MODIFIED', node('a', `${1_000 + 3 * second}`)),
      event('ADDED', node(`new-${second}`, `${1_001 + 3 * second}`)),
      event('DELETED', node(`new-${second - 5}`, `${1_002 + 3 * second}`)),
    ],
    'new objects alone': (second) => [event('ADDED', node(`new-${second}`, `${1_000 + second}`))],
    'the same object again and again': (second) => [event('ADDED', node('a', `${1_000 + second}`))],
    'bytes without an event': () => [],
  };

  test.each(Object.entries(LOADS))(
    'C-42 lists in pages after 30 s without one more object of the first state, under %s',
    async (_, load) => {
      const { source, store, clock } = await start();
      source.answerLists(page([node('a', '1000'), node('b', '20')], '1000'));
      const { sink } = source.lastWatch;
      sink.accepted();
      for (const object of [node('b', '20'), node('a', '10')]) sink.event(event('ADDED', object));
      for (let second = 0; second < 29; second++) {
        await clock.advance(1_000);
        sink.bytes();
        for (const one of load(second)) sink.event(one);
      }
      expect(source.lists.length).toBe(0);
      await clock.advance(1_000);
      expect([source.lists.length, store.versions()]).toEqual([1, ['a@1000', 'b@20']]);
      tellMeasured(
        'C-42',
        clock.monotonic(),
        'from the last object of the first state until a list in pages was there',
      );
      expect(source.lastWatch.request).toEqual({ resourceVersion: '1000', timeoutSeconds: 300 });
    },
  );

  test('C-42 waits for a first state that is slow: each of its objects gives it 30 s more', async () => {
    const { source, store, clock } = await start();
    const { sink } = source.lastWatch;
    sink.accepted();
    const versions = ['50', '10', '40', '20', '30'];
    for (const [at, version] of versions.entries()) {
      sink.event(event('ADDED', node(`n-${at}`, version)));
      await clock.advance(29_000);
      sink.bytes();
    }
    sink.event(initialEventsEnd('50'));
    expect([source.lists.length, store.size]).toEqual([0, 5]);
    await clock.advance(60_000);
    expect(source.watches.length).toBe(1);
  });

  test('C-42 a relist is held no longer, and keeps the state that is known meanwhile', async () => {
    const { source, store, clock } = await startSynced();
    source.lastWatch.end({ kind: 'expired' });
    await clock.advance(0);
    const { request, sink } = source.lastWatch;
    expect(request).toMatchObject({ resourceVersion: '20', initialEvents: true });
    source.answerLists(page([node('a', '40')], '1040'));
    sink.accepted();
    sink.event(event('ADDED', node('a', '40')));
    for (let second = 0; second < 30; second++) {
      expect([source.lists.length, store.versions()]).toEqual([0, ['a@10', 'b@20']]);
      sink.event(event('MODIFIED', node('a', `${1_000 + second}`)));
      sink.bytes();
      await clock.advance(1_000);
    }
    expect(source.lists).toEqual([{ version: { notOlderThan: '20' }, limit: 100 }]);
    expect(store.versions()).toEqual(['a@40']);
  });

  test.each([
    ['has no stream', { kind: 'unsupported' }],
    ['broke the stream off', { kind: 'closed' }],
  ] as const)('asks a server that %s for pages, and after 10 min for the stream again', async (_, failure) => {
    const { source, clock, store } = await start();
    const answer = page([node('a', '10')], '20');
    source.answerLists(answer);
    if (failure.kind === 'closed') source.lastWatch.sink.accepted();
    source.lastWatch.end(failure);
    await clock.advance(2_000);
    const relist = async (): Promise<void> => {
      source.answerLists(answer);
      source.lastWatch.end({ kind: 'expired' });
      await clock.advance(0);
    };
    for (let minute = 0; minute < 9; minute++) await quietMinute(source, clock);
    await relist();
    const lists = (): number => source.lists.filter((list) => !list.metadataOnly).length;
    expect([lists(), source.lastWatch.request.initialEvents]).toEqual([2, undefined]);
    await quietMinute(source, clock);
    await relist();
    expect([lists(), source.lastWatch.request.initialEvents]).toEqual([2, true]);
    source.lastWatch.sink.accepted();
    source.lastWatch.sink.event(event('ADDED', node('b', '30')));
    source.lastWatch.sink.event(initialEventsEnd('30'));
    expect(store.versions()).toEqual(['b@30']);
  });

  test.each(['closed', 'refused', 'stream_error', 'unreadable'] as const)(
    'asks a server for pages that took the stream and ended it by %s before its end',
    async (kind) => {
      const { source, clock } = await start();
      source.lastWatch.sink.accepted();
      source.lastWatch.end({ kind });
      await clock.advance(800);
      expect([source.lists.length, source.watches.length]).toEqual([1, 1]);
    },
  );

  test('gives up a stream that stops flowing before its end after 30 s', async () => {
    const { source, clock } = await start();
    source.lastWatch.sink.accepted();
    source.lastWatch.sink.event(event('ADDED', node('b', '20')));
    await clock.advance(29_000);
    source.lastWatch.sink.bytes();
    source.lastWatch.sink.event(event('ADDED', node('a', '10')));
    await clock.advance(29_999);
    expect(source.lastWatch.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(source.lastWatch.signal.aborted).toBe(true);
  });
});

describe('reflector while watching', () => {
  test('C-06 ends a stream after 75 s of silence and watches from the last version, without a list', async () => {
    const { source, clock, value } = await startPaged();
    const [first] = source.watches.slice(-1);
    first?.sink.event(event('MODIFIED', node('a', '33')));
    first?.sink.bytes();
    await clock.advance(74_999);
    expect(first?.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(first?.signal.aborted).toBe(true);
    expect(source.lastWatch.request.resourceVersion).toBe('33');
    expect(source.lists.length).toBe(1);
    expect(await value('reflector_watches_total', { end: 'quiet' })).toBe(1);
  });

  test('gives up a watch without an answer after 30 s', async () => {
    const { source, clock } = await startPaged();
    source.lastWatch.end({ kind: 'closed' });
    await clock.advance(1_000);
    const { signal } = source.lastWatch;
    await clock.advance(30_000);
    expect(signal.aborted).toBe(true);
  });

  test.each(['refused', 'closed', 'unreadable', 'stream_error'] as const)(
    'asks for a stream again that ended by %s before it was taken',
    async (kind) => {
      const { source, clock } = await start();
      source.lastWatch.end({ kind });
      await clock.advance(800);
      expect(source.lists).toEqual([]);
      expect(source.watches.length).toBe(2);
      expect(source.lastWatch.request).toMatchObject({ initialEvents: true });
    },
  );

  test.each(['reset', 'throttled', 'expired'] as const)(
    'asks for a stream again that was taken and ended by %s before its end',
    async (kind) => {
      const { source, clock } = await start();
      source.lastWatch.sink.accepted();
      source.lastWatch.end(kind === 'throttled' ? { kind, retryAfterMs: 800 } : { kind });
      await clock.advance(800);
      expect(source.lists).toEqual([]);
      expect(source.lastWatch.request).toMatchObject({ initialEvents: true });
      expect(source.watches.length).toBe(2);
    },
  );

  test('waits as after a first failure again when it was healthy for two minutes', async () => {
    const { source, clock } = await startPaged();
    for (const waitMs of [800, 1_600, 3_200]) {
      source.lastWatch.end({ kind: 'reset' });
      await clock.advance(waitMs);
    }
    const before = source.watches.length;
    source.lastWatch.sink.accepted();
    for (let waited = 0; waited < 120_000; waited += 30_000) {
      await clock.advance(30_000);
      source.lastWatch.sink.bytes();
    }
    source.lastWatch.end({ kind: 'reset' });
    await clock.advance(799);
    expect(source.watches.length).toBe(before);
    await clock.advance(1);
    expect(source.watches.length).toBe(before + 1);
  });

  test('C-20 resumes at the version of a bookmark', async () => {
    const { source, clock, value } = await startPaged();
    for (let version = 100; version < 110; version++) {
      await clock.advance(60_000);
      source.lastWatch.sink.bytes();
      source.lastWatch.sink.event(bookmark(String(version)));
    }
    source.lastWatch.end({ kind: 'closed' });
    await clock.advance(0);
    expect(source.lastWatch.request.resourceVersion).toBe('109');
    expect(await value('reflector_watch_events_total', { type: 'BOOKMARK' })).toBe(10);
    expect(await value('reflector_watches_total', { end: 'closed' })).toBe(1);
  });

  test('C-07 keeps the old state whole until the relist is complete', async () => {
    const { source, store, clock } = await startPaged();
    source.answerLists(page([node('a', '40')], '40', 'more'));
    source.lastWatch.end({ kind: 'expired' });
    await clock.advance(0);
    expect(source.lists.at(-1)).toMatchObject({ continueToken: 'more' });
    expect(source.lists.at(-2)).toEqual({ version: { notOlderThan: '20' }, limit: 100 });
    expect(store.versions()).toEqual(['a@10', 'b@20']);
  });

  test('C-12 asks for the same page again after a 429, without a new list', async () => {
    const { source, store, clock } = await start();
    source.answerLists(page([node('a', '10')], '20', 'more'), { kind: 'throttled', retryAfterMs: 7_000 });
    source.lastWatch.end({ kind: 'unsupported' });
    await clock.advance(6_999);
    expect(source.lists.length).toBe(2);
    source.answerLists(page([node('b', '20')], '20'));
    await clock.advance(1);
    expect(source.lists.slice(1).map((list) => list.continueToken)).toEqual(['more', 'more']);
    expect(store.versions()).toEqual(['a@10', 'b@20']);
  });

  test('I2 refuses a list at the last version that is older than the cache, and reads the newest by quorum', async () => {
    const { source, store, clock, value } = await startPaged();
    source.answerLists(page([node('a', '5')], '15'), page([node('a', '5')], '15'));
    source.lastWatch.end({ kind: 'expired' });
    await clock.advance(0);
    expect(source.lists.slice(1).map((list) => list.version)).toEqual([{ notOlderThan: '20' }, '']);
    expect(store.versions()).toEqual(['a@5']);
    expect(await value('reflector_relists_total', { reason: 'restored' })).toBe(1);
    expect(await value('cache_epoch')).toBe(2);
  });

  test('ends what is in flight on abort, opens nothing more, and leaves no timer', async () => {
    const { source, clock, stop } = await startPaged();
    const before = source.watches.length;
    await stop();
    expect(source.lastWatch.signal.aborted).toBe(true);
    await clock.advance(600_000);
    expect([source.watches.length, source.lists.length, clock.pendingTimers]).toEqual([before, 1, 0]);
  });

  test('I7 keeps no timer or listener of a thousand reconnects', async () => {
    const { source, clock } = await startPaged();
    for (let count = 0; count < 1_000; count++) {
      source.lastWatch.sink.accepted();
      await clock.advance(1_000);
      source.lastWatch.end({ kind: 'closed' });
      await clock.advance(0);
    }
    expect(source.watches.length).toBeGreaterThan(1_000);
    expect(clock.pendingTimers).toBe(2); // the limit of silence, the next self-check
  });
});

describe('reflector for probes and metrics', () => {
  test('is exactly one of listing, watching and backing off', async () => {
    const { source, clock, value } = await start();
    const state = () =>
      Promise.all(['listing', 'watching', 'backing_off'].map((word) => value('reflector_state', { state: word })));
    expect(await state()).toEqual([1, 0, 0]);
    source.lastWatch.end({ kind: 'refused' });
    await clock.advance(0);
    expect(await state()).toEqual([0, 0, 1]);
    await clock.advance(800);
    source.lastWatch.sink.accepted();
    source.lastWatch.sink.event(initialEventsEnd('1'));
    expect(await state()).toEqual([0, 1, 0]);
  });

  test('is listing again when the wait before a page is over', async () => {
    const { source, clock, value } = await start();
    const state = (word: string) => value('reflector_state', { state: word });
    source.answerLists(page([node('a', '10')], '20', 'more'), { kind: 'throttled', retryAfterMs: 7_000 });
    source.lastWatch.end({ kind: 'unsupported' });
    await clock.advance(6_999);
    expect(await state('backing_off')).toBe(1);
    await clock.advance(1);
    expect([await state('backing_off'), await state('listing')]).toEqual([0, 1]);
  });

  test('warns of the first failure in a row, tells of the others at debug, and of their end', async () => {
    const { source, clock, lines } = await startPaged();
    lines.length = 0;
    source.lastWatch.end({ kind: 'reset' });
    await clock.advance(800);
    source.lastWatch.end({ kind: 'refused', detail: 'away' });
    await clock.advance(1_600);
    source.lastWatch.sink.accepted();
    source.lastWatch.end({ kind: 'closed' });
    await clock.advance(3_200);
    source.lastWatch.sink.accepted();
    expect(lines).toMatchObject([
      { level: 40, msg: 'a watch failed', resource: 'nodes', end: 'reset' },
      { level: 20, msg: 'a watch failed', resource: 'nodes', end: 'refused', detail: 'away' },
      { level: 30, msg: 'the cluster answers again', resource: 'nodes' },
    ]);
  });

  test('knows that it lacks the right from a 403 on until an answer shows the right, whatever else fails meanwhile', async () => {
    const { source, clock, reflector, value } = await start();
    const RIGHT = 'User "me" cannot list resource "nodes" in API group "" at the cluster scope';
    const forbiddenAfter = async (failure: Failure): Promise<boolean> => {
      const { length } = source.watches;
      source.lastWatch.end(failure);
      for (let second = 0; second < 60 && source.watches.length === length; second++) await clock.advance(1_000);
      return reflector.missingRight() === RIGHT;
    };
    const forbidden: Failure = { kind: 'refused', missingRight: RIGHT };
    expect(reflector.missingRight()).toBe(undefined);
    expect(await forbiddenAfter({ kind: 'refused' })).toBe(false);
    expect(await forbiddenAfter(forbidden)).toBe(true);
    expect(await forbiddenAfter({ kind: 'throttled', retryAfterMs: 1_000 })).toBe(true);
    expect(await forbiddenAfter({ kind: 'reset' })).toBe(true);
    expect(await forbiddenAfter({ kind: 'refused' })).toBe(true);
    expect(await value('reflector_forbidden')).toBe(1);
    expect(await forbiddenAfter({ kind: 'expired' })).toBe(false);
    expect(await forbiddenAfter(forbidden)).toBe(true);
    source.lastWatch.sink.accepted();
    source.lastWatch.sink.event(initialEventsEnd('20'));
    expect([reflector.missingRight(), await value('reflector_forbidden')]).toEqual([undefined, 0]);
    expect(await forbiddenAfter(forbidden)).toBe(true);
    source.lastWatch.sink.accepted();
    expect(reflector.missingRight()).toBe(undefined);
  });

  test('says nothing of a start without a fault', async () => {
    const { lines } = await startSynced();
    expect(lines).toEqual([]);
  });

  test('counts a list that failed as a list and no watch, and times and gives the reason of the next', async () => {
    const { source, clock, value } = await startPaged();
    source.lastWatch.end({ kind: 'expired' });
    source.answerLists({ kind: 'refused' }, page([], '30'));
    await clock.advance(0);
    expect(await value('reflector_lists_total', { result: 'refused' })).toBe(1);
    expect(await value('reflector_watches_total', { end: 'refused' })).toBe(0);
    await clock.advance(800);
    expect(await value('reflector_relists_total', { reason: 'expired' })).toBe(1);
    expect(await value('reflector_lists_total', { result: 'ok' })).toBe(2);
  });

  test('says nothing of silence, of a clean end, and of its own end', async () => {
    const { source, clock, lines, stop, value } = await startPaged();
    await clock.advance(75_000);
    source.lastWatch.sink.accepted();
    source.lastWatch.end({ kind: 'closed' });
    await clock.advance(3_200);
    await stop();
    expect(lines).toEqual([]);
    expect(await value('reflector_watches_total', { end: 'refused' })).toBe(0);
  });

  test('C-23 warns when the cluster went back in time', async () => {
    const { source, clock, lines } = await startPaged();
    source.answerLists(page([], '15'), page([], '15'));
    source.lastWatch.end({ kind: 'expired' });
    await clock.advance(0);
    const MESSAGE = 'the cluster went back in time; the cache followed it';
    expect(lines.filter(({ msg }) => msg === MESSAGE)).toMatchObject([{ level: 40, resource: 'nodes' }]);
  });

  test('is fresh again as soon as a watch at the last version is accepted', async () => {
    const { source, clock, reflector } = await startPaged();
    source.lastWatch.end({ kind: 'reset' });
    await clock.advance(10_000);
    expect(reflector.stalenessMs()).toBe(10_000);
    source.lastWatch.sink.accepted();
    expect(reflector.stalenessMs()).toBe(0);
  });

  test('I8 counts the time since the last attempt or byte', async () => {
    const { source, clock, reflector } = await startPaged();
    source.lastWatch.sink.bytes();
    await clock.advance(20_000);
    expect(reflector.idleMs()).toBe(20_000);
    source.lastWatch.sink.bytes();
    expect(reflector.idleMs()).toBe(0);
  });
});

describe('self-check', () => {
  const PERIOD_MS = 300_000;

  async function check(items: readonly object[], more: readonly object[] = items) {
    const parts = await startPaged();
    parts.source.answerLists(page(items, '20'), page(more, '20'));
    for (let waited = 0; waited < PERIOD_MS; waited += 60_000) {
      await parts.clock.advance(60_000);
      parts.source.lastWatch.sink.bytes();
    }
    return parts;
  }

  test('compares names and versions at the very version of the cache', async () => {
    const { source, value } = await check([node('b', '20'), node('a', '10')]);
    expect(source.lists.slice(1)).toEqual([{ version: { exact: '20' }, limit: 500, metadataOnly: true }]);
    expect(await value('cache_self_checks_total', { result: 'match' })).toBe(1);
  });

  test('C-30 lists again when a second look confirms a difference', async () => {
    const { source, value } = await check([node('a', '10'), node('b', '20'), node('lost', '15')]);
    expect(source.lists.slice(1).map((list) => list.version)).toEqual([{ exact: '20' }, { exact: '20' }, '']);
    expect(await value('cache_self_checks_total', { result: 'mismatch' })).toBe(1);
  });

  test('does not list again when the second look agrees', async () => {
    const { source, value } = await check([], [node('a', '10'), node('b', '20')]);
    expect(source.lists.length).toBe(3);
    expect(await value('cache_self_checks_total', { result: 'match' })).toBe(1);
  });

  test('takes the entries that belong to the version it asks about, whatever events come meanwhile', async () => {
    const parts = await startPaged();
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof page>>();
    const list = parts.source.list.bind(parts.source);
    parts.source.list = (request, progress, signal) => {
      void list(request, progress, signal);
      return promise;
    };
    await parts.clock.advance(PERIOD_MS);
    expect(versions(parts)).toEqual([{ exact: '20' }]);
    parts.source.lastWatch.sink.event(event('MODIFIED', node('a', '30')));
    parts.source.lastWatch.sink.event(event('DELETED', node('b', '31')));
    resolve(SAME);
    await parts.clock.advance(0);
    expect(await parts.value('cache_self_checks_total', { result: 'match' })).toBe(1);
    expect(versions(parts).length).toBe(1);
  });

  test('asks for nothing before the first list is there', async () => {
    const parts = await start();
    parts.source.lastWatch.sink.accepted();
    parts.source.lastWatch.sink.event(event('ADDED', node('newest', '100000')));
    for (let waited = 0; waited < PERIOD_MS; waited += 20_000) {
      parts.source.lastWatch.sink.bytes();
      parts.source.lastWatch.sink.event(event('ADDED', node(`slow-${waited}`, '10')));
      await parts.clock.advance(20_000);
    }
    expect(parts.source.lists).toEqual([]);
    expect(await parts.value('cache_self_checks_total', { result: 'skipped' })).toBe(1);
  });

  test('asks for nothing while more objects are malformed than are remembered', async () => {
    const parts = await start();
    const bad = Array.from({ length: 1_000 }, (_, at) => node(`bad-${at}`, '1', { malformed: true }));
    parts.source.answerLists(page([...bad, node('a', '10')], '20'));
    parts.source.lastWatch.end({ kind: 'unsupported' });
    await expect.poll(() => parts.source.watches.length).toBe(2); // real turns: the page is reduced in slices
    parts.source.lastWatch.sink.accepted();
    await parts.clock.advance(PERIOD_MS);
    expect(parts.source.lists.length).toBe(1);
    expect(await parts.value('cache_self_checks_total', { result: 'skipped' })).toBe(1);
  });

  test('leaves objects that could not be kept out on both sides', async () => {
    const parts = await start();
    const bad = node('bad', '5', { malformed: true });
    parts.source.answerLists(page([bad, node('a', '10')], '20'), page([bad, node('a', '10')], '20'));
    parts.source.lastWatch.end({ kind: 'unsupported' });
    await parts.clock.advance(0);
    parts.source.lastWatch.sink.accepted();
    await parts.clock.advance(PERIOD_MS);
    expect(await parts.value('cache_self_checks_total', { result: 'match' })).toBe(1);
  });

  const TOO_LARGE = { kind: 'too_large_version' } as const;
  const SAME = page([node('a', '10'), node('b', '20')], '20');
  const versions = ({ source }: Awaited<ReturnType<typeof startPaged>>) =>
    source.lists.slice(1).map((one) => one.version);

  test('C-23 reads the newest state by quorum when the cluster says twice that it has not reached our version', async () => {
    const parts = await startPaged();
    parts.source.answerLists(TOO_LARGE, TOO_LARGE, page([node('a', '5')], '15'));
    await parts.clock.advance(PERIOD_MS);
    expect(versions(parts)).toEqual([{ exact: '20' }, { exact: '20' }, '']);
    expect([parts.store.versions(), await parts.value('cache_epoch')]).toEqual([['a@5'], 2]);
    expect(await parts.value('reflector_relists_total', { reason: 'restored' })).toBe(1);
    expect(await parts.value('cache_self_checks_total', { result: 'mismatch' })).toBe(1);
  });

  test('C-24 tells the store that entries of equal versions may differ after a relist of its own', async () => {
    const parts = await startPaged();
    expect(parts.store.sameHistory).toBe(false);
    parts.source.answerLists(page([], '20'), page([], '20'), SAME);
    await parts.clock.advance(PERIOD_MS);
    expect([parts.store.replacements, parts.store.sameHistory]).toEqual([2, false]);
  });

  test('C-25 does not list again when a second look reaches our version', async () => {
    const parts = await startPaged();
    parts.source.answerLists(TOO_LARGE, SAME);
    await parts.clock.advance(PERIOD_MS);
    expect(versions(parts)).toEqual([{ exact: '20' }, { exact: '20' }]);
  });

  test.each(['reset', 'refused'] as const)('C-23 comes within seconds of a reconnect after %s', async (kind) => {
    const parts = await startPaged();
    parts.source.answerLists(SAME);
    parts.source.lastWatch.end({ kind });
    await parts.clock.advance(800);
    parts.source.lastWatch.sink.accepted();
    await parts.clock.advance(1_999);
    expect(versions(parts)).toEqual([]);
    await parts.clock.advance(1);
    expect(versions(parts)).toEqual([{ exact: '20' }]);
    await parts.clock.advance(30_000);
    expect(versions(parts).length).toBe(1);
  });

  test('C-23 comes again, at most three times and 20 s apart, when it could say nothing after a reconnect', async () => {
    const parts = await startPaged();
    const REFUSED = { kind: 'refused' } as const;
    parts.source.answerLists(REFUSED, REFUSED, REFUSED, REFUSED, SAME);
    parts.source.lastWatch.end({ kind: 'reset' });
    await parts.clock.advance(800);
    parts.source.lastWatch.sink.accepted();
    await parts.clock.advance(2_000);
    for (const checks of [1, 2, 3, 4]) {
      expect(versions(parts).length).toBe(checks);
      await parts.clock.advance(19_999);
      expect(versions(parts).length).toBe(checks);
      parts.source.lastWatch.sink.bytes();
      await parts.clock.advance(1);
    }
    expect(versions(parts).length).toBe(4);
    expect(await parts.value('cache_self_checks_total', { result: 'skipped' })).toBe(4);
  });

  test('C-23 comes again no more once it could say something', async () => {
    const parts = await startPaged();
    parts.source.answerLists({ kind: 'expired' }, SAME, SAME);
    parts.source.lastWatch.end({ kind: 'reset' });
    await parts.clock.advance(800);
    parts.source.lastWatch.sink.accepted();
    await parts.clock.advance(2_000 + 20_000);
    expect(versions(parts).length).toBe(2);
    parts.source.lastWatch.sink.bytes();
    await parts.clock.advance(60_000);
    expect(versions(parts).length).toBe(2);
  });

  test('does not come early after a clean close', async () => {
    const parts = await startPaged();
    await parts.clock.advance(2_000);
    parts.source.lastWatch.end({ kind: 'closed' });
    await parts.clock.advance(0);
    parts.source.lastWatch.sink.accepted();
    await parts.clock.advance(60_000);
    expect(versions(parts)).toEqual([]);
  });

  test('C-23 comes at once for a bookmark below our version, and not again within 20 s', async () => {
    const parts = await startPaged();
    parts.source.answerLists(SAME, SAME);
    parts.source.lastWatch.sink.event(bookmark('20'));
    await parts.clock.advance(0);
    expect(versions(parts).length).toBe(0);
    parts.source.lastWatch.sink.event(bookmark('19'));
    await parts.clock.advance(0);
    expect(versions(parts).length).toBe(1);
    parts.source.lastWatch.sink.event(bookmark('19'));
    await parts.clock.advance(19_999);
    expect(versions(parts).length).toBe(1);
    await parts.clock.advance(1);
    expect(versions(parts).length).toBe(2);
  });

  test('C-30 ends the wait between two watches for the list that it asks for', async () => {
    const parts = await startPaged();
    for (let at = 0; at < 4; at++) {
      await parts.clock.advance(74_000);
      parts.source.lastWatch.sink.bytes();
    }
    parts.source.answerLists(page([], '20'), page([], '20'), page([node('a', '10')], '20'));
    await parts.clock.advance(3_999);
    const watches = parts.source.watches.length;
    parts.source.lastWatch.end({ kind: 'throttled', retryAfterMs: 60_000 });
    await parts.clock.advance(1);
    expect(versions(parts)).toEqual([{ exact: '20' }, { exact: '20' }, '']);
    expect([parts.store.versions(), parts.source.watches.length]).toEqual([['a@10'], watches + 1]);
  });

  /** A minute before the end of the period; lists of the reflector and of its check are answered by the test from now on. */
  async function beforeCheck() {
    const parts = await startPaged();
    for (let waited = 60_000; waited < PERIOD_MS; waited += 60_000) {
      await parts.clock.advance(60_000);
      parts.source.lastWatch.sink.bytes();
    }
    const asked = { list: [] as Answer[], check: [] as Answer[] };
    parts.source.list = (request) => {
      const answer = Promise.withResolvers<ReturnType<typeof page>>();
      (request.metadataOnly ? asked.check : asked.list).push(answer);
      return answer.promise;
    };
    return { ...parts, asked };
  }
  type Answer = PromiseWithResolvers<ReturnType<typeof page>>;

  test('says nothing of a cache that was listed anew while it compared', async () => {
    const { source, clock, asked, value } = await beforeCheck();
    await clock.advance(60_000);
    source.lastWatch.end({ kind: 'expired' });
    await clock.advance(0);
    asked.list[0]?.resolve(page([node('a', '30')], '30'));
    await clock.advance(0);
    asked.check[0]?.resolve(page([], '20'));
    await clock.advance(0);
    asked.check[1]?.resolve(page([], '20'));
    await clock.advance(0);
    expect(await value('cache_self_checks_total', { result: 'skipped' })).toBe(1);
    expect([asked.check.length, asked.list.length]).toEqual([2, 1]);
  });

  test('C-30 takes the list that is under way for the one that it asks for', async () => {
    const { source, store, clock, asked, value } = await beforeCheck();
    await clock.advance(59_999);
    source.lastWatch.end({ kind: 'expired' });
    await clock.advance(1);
    for (const at of [0, 1]) {
      asked.check[at]?.resolve(page([], '20'));
      await clock.advance(0);
    }
    expect(await value('cache_self_checks_total', { result: 'mismatch' })).toBe(1);
    asked.list[0]?.resolve(page([node('a', '30')], '30'));
    await clock.advance(0);
    expect([store.versions(), store.sameHistory, asked.list.length]).toEqual([['a@30'], false, 1]);
    expect(source.lastWatch.request.resourceVersion).toBe('30');
  });

  test('says nothing when the version has left the history', async () => {
    const parts = await startPaged();
    parts.source.answerLists({ kind: 'expired' });
    await parts.clock.advance(PERIOD_MS);
    expect(await parts.value('cache_self_checks_total', { result: 'skipped' })).toBe(1);
  });
});
