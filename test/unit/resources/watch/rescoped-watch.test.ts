import { expect, test } from 'vitest';
import { createLister } from '../../../../src/resources/cache.ts';
import { ResourceStore } from '../../../../src/resources/entries/store.ts';
import { createWatchQueryParser } from '../../../../src/resources/watch/watch-query.ts';
import { TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { kindValueOf } from '../../../integration/http/kinds-under-test.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { synced } from '../node-objects.ts';

const KIND = kindValueOf({ group: 'apps', resource: 'deployments' });

/** A watch of the objects with the label `app=web` in the namespace red, with two objects there of which it has one. */
function watchRed() {
  const clock = new FakeClock();
  const store = new ResourceStore(KIND, new TimeSlices(clock));
  const lister = createLister({ store, freshness: { synced }, maxStalenessMs: 1_000, clock, epoch: 'e1' });
  let version = 0;
  const put = (namespace: string, name: string, app: string): void => {
    const metadata = { name, namespace, uid: name, resourceVersion: `${++version}`, labels: { app } };
    store.put(store.toEntry({ metadata }));
  };
  put('red', 'chosen', 'web');
  put('red', 'other', 'db');
  put('blue', 'new', 'web');
  const query = createWatchQueryParser(KIND)('watch=true&labelSelector=app%3Dweb');
  const watch = lister.watch({ ...query, within: { id: '1'.repeat(16), names: new Set(['red']) } }, 'json');
  const told = (): string[] => {
    const events: string[] = [];
    while (lister.refresh() >= 0 && watch.isBehind) {
      const text = Buffer.from(watch.next() ?? []).toString();
      for (const line of text.split('\n').filter(Boolean)) {
        const { type, object } = JSON.parse(line);
        if (type !== 'BOOKMARK') events.push(`${type} ${object.metadata.name}`);
      }
    }
    return events;
  };
  return { put, watch, told };
}

test('KD-12 a watch that loses a namespace is told only of the objects that its filters chose', () => {
  const { watch, told } = watchRed();
  expect(told()).toEqual(['ADDED chosen']);
  watch.rescope?.({ id: '2'.repeat(16), names: new Set(['blue']) });
  expect(told()).toEqual(['DELETED chosen', 'ADDED new']);
});

test('KD-12 a watch that loses a namespace and gets it back before it is told loses nothing', () => {
  const { put, watch, told } = watchRed();
  expect(told()).toEqual(['ADDED chosen']);
  watch.rescope?.({ id: '2'.repeat(16), names: new Set(['blue']) });
  put('red', 'chosen', 'db');
  put('red', 'late', 'web');
  watch.rescope?.({ id: '1'.repeat(16), names: new Set(['red']) });
  const events = told();
  expect([events.includes('DELETED chosen'), events.includes('ADDED late')]).toEqual([true, true]);
});
