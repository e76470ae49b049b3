import { describe, expect, test } from 'vitest';
import { CacheWriter } from '../../../../src/kubernetes/reflector/cache-writer.ts';
import type { Failure } from '../../../../src/kubernetes/reflector/failure.ts';
import { listInPages } from '../../../../src/kubernetes/reflector/paged-list.ts';
import { TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { type MapEntry, MapStore } from '../../../support/map-store.ts';
import { measured, node, silent } from '../objects.ts';
import { page, ScriptedSource } from './scripted-source.ts';

/** Counts the turns of the event loop while something is under way. */
function countTurns(): { readonly now: () => number; stop(): void } {
  let turns = 0;
  let isOn = true;
  const next = (): void => {
    turns++;
    if (isOn) setImmediate(next);
  };
  setImmediate(next);
  return {
    now: () => turns,
    stop: () => {
      isOn = false;
    },
  };
}

function start(...answers: Parameters<ScriptedSource['answerLists']>) {
  const time = { now: 0 };
  const slices = new TimeSlices({ monotonic: () => time.now });
  const source = new ScriptedSource();
  source.answerLists(...answers);
  const store = new MapStore();
  const clock = new FakeClock();
  const writer = new CacheWriter({ store, clock, metrics: measured().metrics, logger: silent });
  const pauses: Failure[] = [];
  const pause = async (failure: Failure): Promise<void> => void pauses.push(failure);
  const controller = new AbortController();
  const list = () => listInPages({ source, writer, clock, slices, pause }, '', controller.signal);
  return { source, store, pauses, list, controller, time };
}

const nodes = (count: number, from = 0) => Array.from({ length: count }, (_, at) => node(`node-${from + at}`, '1'));
const keysOf = (listed: unknown): string[] => (listed as { entries: MapEntry[] }).entries.map(({ key }) => key);

describe('a list in pages', () => {
  test('holds the event loop for 8 ms at most, and waits for none before the first', async () => {
    const { store, list, time } = start(page(nodes(250), '7'));
    const turns = countTurns();
    const seen: number[] = [];
    const toEntry = store.toEntry.bind(store);
    store.toEntry = (object) => {
      seen.push(turns.now());
      time.now++;
      return toEntry(object);
    };
    const began = turns.now();
    const listed = await list();
    turns.stop();
    expect(seen[0]).toBe(began);
    expect(listed).toMatchObject({ kind: 'listed', resourceVersion: '7' });
    expect(keysOf(listed)).toEqual(nodes(250).map(({ metadata }) => metadata.name));
    const inOneTurn = [...Map.groupBy(seen, (turn) => turn).values()].map((all) => all.length);
    expect(inOneTurn).toEqual([...Array.from({ length: 31 }, () => 8), 2]);
  });

  test('takes a page of 100 in one turn', async () => {
    const { store, list } = start(page(nodes(100), '7'));
    const turns = countTurns();
    const seen = new Set<number>();
    const toEntry = store.toEntry.bind(store);
    store.toEntry = (object) => {
      seen.add(turns.now());
      return toEntry(object);
    };
    await list();
    turns.stop();
    expect(seen.size).toBe(1);
  });

  test('is every page, at the version of the first', async () => {
    const { source, list } = start(page(nodes(2), '7', 'next'), page(nodes(2, 2), '9'));
    const listed = await list();
    expect(keysOf(listed)).toEqual(['node-0', 'node-1', 'node-2', 'node-3']);
    expect(listed).toHaveProperty('resourceVersion', '7');
    expect(source.lists).toEqual([
      { version: '', limit: 100 },
      { version: '', limit: 500, continueToken: 'next' },
    ]);
  });

  test('asks for as many objects as a mebibyte takes, at most 500', async () => {
    const sized = (count: number, bytes: number, next: string) => ({ ...page(nodes(count), '7', next), bytes });
    const { source, list } = start(
      sized(100, 100 * 12_000, 'small'),
      sized(174, 174 * 80_000, 'large'),
      sized(26, 26 * 3_000_000, 'larger than that'),
      sized(1, 20, 'tiny'),
      sized(0, 90, 'none'),
      sized(1, 20, ''),
    );
    await list();
    expect(source.lists.map(({ limit }) => limit)).toEqual([100, 87, 13, 1, 500, 100]);
  });

  test('leaves out what cannot be kept', async () => {
    const { list } = start(page([node('a', '1'), { no: 'object' }, node('b', '1', { malformed: true })], '7'));
    expect(keysOf(await list())).toEqual(['a']);
  });

  test('C-12 asks for a throttled page again after the pause', async () => {
    const throttled = { kind: 'throttled', retryAfterMs: 5 } as const;
    const { source, pauses, list } = start(page(nodes(1), '7', 'next'), throttled, page(nodes(1, 1), '7'));
    expect(keysOf(await list())).toEqual(['node-0', 'node-1']);
    expect([pauses, source.lists.length]).toEqual([[throttled], 3]);
  });

  test('asks for fewer objects when a page is longer than we read, down to one', async () => {
    const tooLong = { kind: 'unreadable', detail: 'longer than 128 MiB', isTooLong: true } as const;
    const first = { ...page(nodes(100), '7', 'next'), bytes: 1_000 };
    const { source, list } = start(first, tooLong, tooLong, page(nodes(1, 100), '7'));
    expect(keysOf(await list())).toHaveLength(101);
    expect(source.lists.map(({ limit, continueToken }) => [limit, continueToken])).toEqual([
      [100, undefined],
      [500, 'next'],
      [125, 'next'],
      [32, 'next'],
    ]);
    const never = start(...Array.from({ length: 5 }, () => tooLong));
    expect(await never.list()).toEqual(tooLong);
    expect(never.source.lists.map(({ limit }) => limit)).toEqual([100, 25, 7, 2, 1]);
  });

  test('ends with any other failure', async () => {
    const { list } = start(page(nodes(1), '7', 'next'), { kind: 'expired' });
    expect(await list()).toEqual({ kind: 'expired' });
  });

  test('ends when it is aborted between two pages', async () => {
    const { store, controller, list } = start(page(nodes(1), '7', 'next'), page(nodes(1, 1), '7'));
    const toEntry = store.toEntry.bind(store);
    store.toEntry = (object) => {
      controller.abort();
      return toEntry(object);
    };
    expect(await list()).toEqual({ kind: 'aborted' });
  });
});
