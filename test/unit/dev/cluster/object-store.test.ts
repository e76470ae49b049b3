import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../dev/cluster/kube-object.ts';
import { ObjectStore } from '../../../../dev/cluster/object-store.ts';
import { seededRandom } from '../../../../dev/cluster/seeded-random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const createStore = (seed = 1): ObjectStore => new ObjectStore({ clock: new FakeClock(), random: seededRandom(seed) });
const node = (name: string, more: object = {}) => ({ metadata: { name }, ...more });
const names = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name);
const namesAt = (store: ObjectStore, revision: number): string[] =>
  store
    .collection('nodes')
    .at(revision)
    .map((entry) => entry.key);

describe('the object store', () => {
  test('gives a new object uid, time and the next version', () => {
    const store = createStore();
    const { metadata } = store.create('nodes', node('a'));
    expect(metadata).toEqual({
      name: 'a',
      uid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      creationTimestamp: '2026-03-09T10:00:00Z',
      resourceVersion: '2',
    });
    expect(store.resourceVersion).toBe('2');
  });

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

  test('lists in key order, however objects came', () => {
    const store = createStore();
    for (const name of ['c', 'a']) store.create('nodes', node(name));
    expect(names(store.list('nodes'))).toEqual(['a', 'c']);
    store.create('nodes', node('b'));
    store.remove('nodes', 'a');
    expect(names(store.list('nodes'))).toEqual(['b', 'c']);
  });

  test('refuses a second object of a name, a stale version and another uid', () => {
    const store = createStore();
    const first = store.create('nodes', node('a'));
    expect(() => store.create('nodes', node('a'))).toThrow('nodes "a" already exists');
    store.patch('nodes', 'a', { spec: { x: 1 } });
    expect(() => store.update('nodes', first)).toThrow(/the object has been modified/);
    expect(() => store.update('nodes', { metadata: { name: 'a', uid: 'other' } })).toThrow(
      /UID in precondition: other/,
    );
  });

  test('writes nothing when nothing changes', () => {
    const store = createStore();
    const first = store.create('nodes', node('a', { spec: { x: { y: 1 } } }));
    expect(store.update('nodes', { metadata: { name: 'a' }, spec: { x: { y: 1 } } })).toBe(first);
    expect(store.resourceVersion).toBe('2');
  });

  test('takes stringData into data', () => {
    const store = createStore();
    const metadata = { name: 's', namespace: 'default' };
    store.create('secrets', { metadata, data: { a: 'b2xk', b: 'Yg==' }, stringData: { a: 'new' } });
    expect(store.get('secrets', 'default/s')).toEqual({
      metadata: expect.objectContaining(metadata),
      data: { a: 'bmV3', b: 'Yg==' },
    });
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
