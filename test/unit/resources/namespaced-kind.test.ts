import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import { createLister } from '../../../src/resources/cache.ts';
import type { Kind } from '../../../src/resources/entries/kind.ts';
import { ResourceStore } from '../../../src/resources/entries/store.ts';
import { statusFilter } from '../../../src/resources/query/filter.ts';
import { COMMON_SORT_WORDS, createListQueryParser } from '../../../src/resources/query/list-query.ts';
import { createWatchQueryParser } from '../../../src/resources/watch/watch-query.ts';
import { TimeSlices } from '../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { synced, textOf } from './node-objects.ts';

/** A kind of a group, with objects in namespaces. */
const WIDGETS: Kind = {
  platform: 'gatehouse',
  group: 'example.test',
  version: 'v2',
  resource: 'widgets',
  kind: 'Widget',
  singularName: 'widget',
  shortNames: [],
  namespaced: true,
  sortWords: COMMON_SORT_WORDS,
  filters: new Map([['status', statusFilter(['good', 'bad'])]]),
  statusOf: ({ state }) => String(state),
};

const widget = (namespace: string, name: string, day: number, state = 'good'): KubernetesObject => ({
  metadata: {
    ...{ name, namespace, uid: `uid-${namespace}-${name}`, resourceVersion: `${day}` },
    creationTimestamp: `2026-01-0${day}T00:00:00Z`,
  },
  state,
});

function start() {
  const clock = new FakeClock();
  const store = new ResourceStore(WIDGETS, new TimeSlices(clock));
  const freshness = { widgets: synced };
  const lister = createLister({ store, freshness, maxStalenessMs: 1_000, clock, epoch: 'e1', exposeBytes: () => {} });
  const put = (object: KubernetesObject) => store.put(store.toEntry(object));
  for (const object of [widget('b', 'one', 1), widget('a', 'one', 1), widget('a', 'two', 2, 'bad')]) put(object);
  const parse = createListQueryParser(WIDGETS);
  const items = (query = ''): { metadata: { namespace: string; name: string; selfLink: string } }[] =>
    JSON.parse(textOf(lister.list(parse(query)).body('identity').pieces)).items;
  const keys = (query: string) => items(query).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  return { store, lister, items, keys };
}

describe('a kind whose objects are in namespaces', () => {
  test('has a total order: by time, then name, then namespace, or by name, then namespace', () => {
    const { keys } = start();
    expect(keys('')).toEqual(['a/two', 'b/one', 'a/one']);
    expect(keys('ascending=true')).toEqual(['a/one', 'b/one', 'a/two']);
    expect(keys('sortBy=name&ascending=true')).toEqual(['a/one', 'b/one', 'a/two']);
  });

  test('is chosen by namespace, by name in any, and by the filters of its own', () => {
    const { keys } = start();
    expect(keys('namespace=a')).toEqual(['a/two', 'a/one']);
    expect(keys('namespace=')).toHaveLength(3);
    expect(keys('names=one')).toEqual(['b/one', 'a/one']);
    expect(keys('name=a')).toEqual([]);
    expect(keys('status=bad')).toEqual(['a/two']);
  });

  test('tells of each its path in the cluster, and its type where one is asked for', () => {
    const { lister, items } = start();
    expect(items('names=two')[0]?.metadata.selfLink).toBe('/apis/example.test/v2/namespaces/a/widgets/two');
    const one = lister.get('a/two');
    expect(JSON.parse(one ? textOf(one.body('identity').pieces) : '')).toMatchObject({
      ...{ kind: 'Widget', apiVersion: 'example.test/v2' },
      metadata: { namespace: 'a', name: 'two' },
    });
    expect(lister.get('two')).toBeUndefined();
  });

  test('says of an object that went in which namespace it was', () => {
    const { store, lister } = start();
    const watch = lister.watch(createWatchQueryParser(WIDGETS)('watch=true'), 'json');
    for (let bytes = watch.next(); bytes; ) bytes = watch.next();
    store.remove('b/one', '7');
    expect(JSON.parse(Buffer.from(watch.next() ?? []).toString())).toEqual({
      type: 'DELETED',
      object: {
        ...{ kind: 'Widget', apiVersion: 'example.test/v2' },
        metadata: { name: 'one', namespace: 'b', uid: 'uid-b-one', resourceVersion: '7.2.0.0' },
      },
    });
  });

  test('takes no object without a namespace', () => {
    const { store } = start();
    const { namespace: _, ...metadata } = widget('a', 'three', 3).metadata;
    expect(() => store.toEntry({ metadata })).toThrow('metadata.namespace is missing or not text');
  });
});
