import { describe, expect, test } from 'vitest';
import { ObjectSearch, type SearchedList } from '../../../../src/kinds/search/object-search.ts';
import { TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { serviceUnavailable } from '../../../../src/status-error.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { storeOf } from './searched-kinds.ts';

const kindOf = (resource: string) => ({
  ...{ group: 'example.com', version: 'v1', resource, kind: resource, singularName: resource, name: resource },
  ...{ shortNames: [], namespaced: true, verbs: ['list', 'watch'] },
});

const listOf = (kind: string, lister: Partial<SearchedList['lister']> = {}): SearchedList => ({
  store: storeOf(kind, []),
  lister: { refresh: () => 1, staleSeconds: () => undefined, ...lister },
});

const tooOld = (): never => {
  throw serviceUnavailable('too old', undefined);
};

/** `Node` is always in memory, `held` are now. */
function searchOver(held: readonly SearchedList[], node = listOf('Node')): ObjectSearch {
  return new ObjectSearch({
    ...{ platform: 'gatehouse', always: [node], slices: new TimeSlices(new FakeClock()) },
    catalog: {
      kinds: async () => ['jobs', 'nodes', 'pods', 'widgets'].map(kindOf),
      denied: async () => ['events', 'nodes'].map(kindOf),
    },
    mirrors: { all: () => [...held] },
  });
}

describe('what a search is about', () => {
  test('KD-40 is every kind in memory; the others are named with the reason', async () => {
    const { kinds, leftOut } = await searchOver([listOf('Pod'), listOf('Job', { refresh: tooOld })]).scope();
    expect(kinds.map(({ name, right }) => [name, right.group])).toEqual([
      ['nodes.example.com', 'resources.gatehouse.io'],
      ['pods.example.com', 'example.com'],
    ]);
    expect(leftOut).toEqual([
      { resource: 'jobs.example.com', reason: 'not available' },
      { resource: 'widgets.example.com', reason: 'not in memory' },
      { resource: 'events.example.com', reason: 'denied' },
    ]);
  });

  test('KD-40 is as old as the oldest list that is searched', async () => {
    const [pods, jobs] = [listOf('Pod', { staleSeconds: () => 61 }), listOf('Job', { staleSeconds: () => 90 })];
    expect((await searchOver([pods, jobs]).scope()).staleSeconds).toBe(90);
    expect((await searchOver([]).scope()).staleSeconds).toBeUndefined();
  });
});
