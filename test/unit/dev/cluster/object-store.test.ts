import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../dev/cluster/kube-object.ts';
import { ObjectStore } from '../../../../dev/cluster/object-store.ts';
import { seededRandom } from '../../../../dev/cluster/seeded-random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const createStore = (seed = 1): ObjectStore => new ObjectStore({ clock: new FakeClock(), random: seededRandom(seed) });
const node = (name: string) => ({ metadata: { name } });
const names = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name);
const namesAt = (store: ObjectStore, revision: number): string[] =>
  store
    .collection('nodes')
    .at(revision)
    .map((entry) => entry.key);

describe('the object store', () => {
  test('gives the same uids for the same seed', () => {
    const uidOf = (seed: number): string => createStore(seed).create('nodes', node('a')).metadata.uid;
    expect(uidOf(7)).toBe(uidOf(7));
    expect(uidOf(7)).not.toBe(uidOf(8));
  });

  test('counts versions over all kinds', () => {
    const store = createStore();
    store.create('nodes', node('a'));
    store.create('secrets', { metadata: { name: 's', namespace: 'default' } });
    expect(store.patch('nodes', 'a', { spec: { unschedulable: true } }).metadata.resourceVersion).toBe('4');
  });

  test('refuses an update of another uid', () => {
    const store = createStore();
    store.create('nodes', node('a'));
    expect(() => store.update('nodes', { metadata: { name: 'a', uid: 'other' } })).toThrow(
      /UID in precondition: other/,
    );
  });

  test('shows every version since the last compaction as it was', () => {
    const store = createStore();
    store.create('nodes', node('a'));
    store.create('nodes', node('b'));
    store.remove('nodes', 'a');
    expect([2, 3, 4].map((revision) => namesAt(store, revision))).toEqual([['a'], ['a', 'b'], ['b']]);
  });

  test('forgets the history at a compaction and keeps the present', () => {
    const store = createStore();
    store.create('nodes', node('a'));
    store.compact();
    expect(store.compactedRevision).toBe(2);
    expect(store.collection('nodes').changesAfter(0)).toEqual([]);
    expect(names(store.list('nodes'))).toEqual(['a']);
  });

  test('goes back to an older version, counter included, and grows on differently', () => {
    const store = createStore();
    store.create('nodes', node('a'));
    store.create('nodes', node('lost'));
    store.patch('nodes', 'a', { spec: { x: 1 } });
    store.restore(2);
    expect(store.resourceVersion).toBe('2');
    expect(names(store.list('nodes'))).toEqual(['a']);
    expect(store.get('nodes', 'a')?.spec).toBeUndefined();
    expect(store.create('nodes', node('other')).metadata.resourceVersion).toBe('3');
    expect(namesAt(store, 3)).toEqual(['a', 'other']);
  });

  test('refuses to go back beyond the last compaction', () => {
    const store = createStore();
    store.create('nodes', node('a'));
    store.compact();
    expect(() => store.restore(1)).toThrow('version 1 is not in the history 2..2');
  });

  test('names a kind that it does not have', () => {
    expect(() => createStore().list('widgets')).toThrow('the simulated cluster has no kind "widgets"');
  });
});
