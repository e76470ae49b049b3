import { describe, expect, test } from 'vitest';
import { CacheWriter, type CompleteList } from '../../../../src/kubernetes/reflector/cache-writer.ts';
import { atOnce } from '../../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { type MapEntry, MapStore } from '../../../support/map-store.ts';
import { bookmark, event, measured, node, silent } from '../objects.ts';

/** A cache with node a at 10 and node b at 20, at version 20. */
function synced() {
  const store = new MapStore();
  const clock = new FakeClock();
  const { metrics, value } = measured();
  const writer = new CacheWriter({ store, clock, metrics, logger: silent });
  function* taking(list: CompleteList<MapEntry>) {
    return yield* writer.replace(list, yield* writer.compare(list), false);
  }
  const list = (objects: readonly object[], resourceVersion: string) => {
    const entries = objects.map((object) => writer.toEntry(object)).filter((entry) => entry !== undefined);
    return atOnce(taking({ entries, resourceVersion }));
  };
  list([node('a', '10'), node('b', '20')], '20');
  return {
    store,
    clock,
    writer,
    value,
    list,
    dropped: (reason: string) => value('reflector_dropped_events_total', { reason }),
  };
}

describe('cache writer', () => {
  test('applies ADDED, MODIFIED and DELETED in order', () => {
    const { store, writer } = synced();
    expect(writer.apply(event('ADDED', node('c', '21')))).toBe(true);
    expect(writer.apply(event('MODIFIED', node('a', '22')))).toBe(true);
    expect(writer.apply(event('DELETED', node('b', '23')))).toBe(true);
    expect(store.versions()).toEqual(['a@22', 'c@21']);
    expect(writer.resourceVersion).toBe('23');
  });

  test('counts what is listed without name, uid or version as dropped', async () => {
    const { writer, dropped } = synced();
    expect(writer.toEntry({ metadata: { name: 'c', uid: 'u' } })).toBeUndefined();
    expect(await dropped('no_metadata')).toBe(1);
    expect(writer.toEntry(node('c', '21'))?.key).toBe('c');
    expect(await dropped('no_metadata')).toBe(1);
  });

  test('makes way for other work while it looks at a list, a step for each 64 entries', () => {
    const { writer } = synced();
    const entries = Array.from({ length: 1_000 }, (_, at) => ({
      key: `n-${at}`,
      uid: `u-${at}`,
      resourceVersion: '30',
    }));
    const steps = [...writer.compare({ entries: entries as unknown as MapEntry[], resourceVersion: '30' })].length;
    expect(steps).toBe(15);
  });

  test('C-23 tells the store that entries of equal versions may differ when the server was restored', () => {
    const { store, list } = synced();
    list([node('a', '10')], '20');
    expect(store.sameHistory).toBe(true);
    list([node('a', '10')], '15');
    expect(store.sameHistory).toBe(false);
    list([node('a', '10')], '15');
    expect(store.sameHistory).toBe(true);
  });

  test('C-17 writes nothing for a thousand duplicates', async () => {
    const { store, writer, dropped } = synced();
    for (let count = 0; count < 1_000; count++) expect(writer.apply(event('MODIFIED', node('b', '20')))).toBe(false);
    expect(store.puts).toBe(0);
    expect(await dropped('stale')).toBe(1_000);
  });

  test('C-18 drops an event older than the stored object', async () => {
    const { store, writer, dropped } = synced();
    writer.apply(event('MODIFIED', node('a', '9')));
    expect(store.versions()).toEqual(['a@10', 'b@20']);
    expect(writer.resourceVersion).toBe('20');
    expect(await dropped('stale')).toBe(1);
  });

  test('C-18 compares versions as text of any length', () => {
    const { store, writer, list } = synced();
    list([node('a', '9007199254740993')], '9007199254740993');
    writer.apply(event('MODIFIED', node('a', '9007199254740992')));
    expect(store.versions()).toEqual(['a@9007199254740993']);
  });

  test('C-19 drops a DELETED that is older than the object of the same uid', () => {
    const { store, writer } = synced();
    writer.apply(event('DELETED', node('b', '19')));
    expect(store.get('b')?.resourceVersion).toBe('20');
  });

  test('C-19 replaces an object by its successor of another uid, and lets nothing of the predecessor undo that', () => {
    const { store, writer } = synced();
    writer.apply(event('ADDED', node('a', '31', { uid: 'second' })));
    writer.apply(event('DELETED', node('a', '30')));
    writer.apply(event('DELETED', node('a', '32')));
    writer.apply(event('MODIFIED', node('a', '29')));
    expect(store.get('a')).toMatchObject({ uid: 'second', resourceVersion: '31' });
  });

  test('I2 does not bring a deleted object back when its past is repeated', () => {
    const { store, writer } = synced();
    writer.apply(event('DELETED', node('a', '25')));
    writer.apply(event('ADDED', node('a', '10')));
    writer.apply(event('MODIFIED', node('a', '24')));
    expect(store.versions()).toEqual(['b@20']);
  });

  test('C-20 goes forward on a bookmark alone', () => {
    const { store, writer } = synced();
    expect(writer.apply(bookmark('500'))).toBe(true);
    expect(writer.resourceVersion).toBe('500');
    expect(store.puts).toBe(0);
  });

  test('C-21 ignores and counts a lower bookmark, an unknown type, a Table and an object without metadata', async () => {
    const { store, writer, dropped } = synced();
    writer.apply(bookmark('19'));
    writer.apply(event('RENAMED', node('a', '30')));
    writer.apply(
      event('MODIFIED', { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '31' } }),
    );
    writer.apply(event('ADDED', { kind: 'Node' }));
    expect(store.versions()).toEqual(['a@10', 'b@20']);
    expect(writer.resourceVersion).toBe('20');
    expect([await dropped('stale'), await dropped('unknown_type'), await dropped('no_metadata')]).toEqual([1, 1, 2]);
  });

  test('leaves out an object that the store cannot understand, counts it, and goes on', async () => {
    const { store, writer, dropped } = synced();
    expect(writer.apply(event('ADDED', node('c', '21', { malformed: true })))).toBe(true);
    expect(store.get('c')).toBeUndefined();
    expect(writer.isMalformed('c')).toBe(true);
    expect(await dropped('malformed')).toBe(1);
    writer.apply(event('MODIFIED', node('c', '22')));
    expect(store.get('c')?.resourceVersion).toBe('22');
    expect(writer.isMalformed('c')).toBe(false);
  });

  test('goes on when the store throws', () => {
    const { store, writer } = synced();
    store.put = () => {
      throw new Error('a bug');
    };
    expect(writer.apply(event('ADDED', node('c', '21')))).toBe(true);
    expect(writer.resourceVersion).toBe('21');
  });

  test('C-23 begins a new epoch when a list is older, and then takes lower versions', () => {
    const { store, writer, list } = synced();
    expect(writer.epoch).toBe(1);
    expect(list([node('a', '5')], '7')).toBe('restored');
    expect(writer.epoch).toBe(2);
    writer.apply(event('MODIFIED', node('a', '8')));
    expect(store.versions()).toEqual(['a@8']);
  });

  test('counts as a surprise what a relist shows and the events before it should have', async () => {
    const { list, value } = synced();
    list([node('a', '11'), node('b', '20'), node('c', '15'), node('d', '30')], '30');
    expect(await value('reflector_relist_surprises_total')).toBe(2); // a and c; d came after the cache's version
  });

  test('is stale since the last proof: an event or a bookmark, and not a dropped one', async () => {
    const { clock, writer } = synced();
    await clock.advance(5_000);
    expect(writer.stalenessMs()).toBe(5_000);
    writer.apply(event('MODIFIED', node('a', '9')));
    writer.apply(bookmark('3'));
    expect(writer.stalenessMs()).toBe(5_000);
    writer.apply(bookmark('20'));
    expect(writer.stalenessMs()).toBe(0);
  });

  test('is infinitely stale before the first list', () => {
    const { metrics } = measured();
    const writer = new CacheWriter({ store: new MapStore(), clock: new FakeClock(), metrics, logger: silent });
    expect([writer.hasSynced(), writer.stalenessMs()]).toEqual([false, Number.POSITIVE_INFINITY]);
  });
});
