import { describe, expect, test } from 'vitest';
import type { Entry } from '../../../../src/resources/entries/entry.ts';
import { Siblings } from '../../../../src/resources/entries/siblings.ts';
import { makeNode, toNodeEntry } from '../node-objects.ts';

/** An object with its own copies of the same texts. */
const entry = (name: string, { labels = { app: 'web' }, owner = 'uid-set' } = {}): Entry =>
  toNodeEntry(
    makeNode(name, {
      ...{ labels: { ...labels }, annotations: { sum: '1' } },
      ...(owner !== '' && { ownerReferences: [{ uid: owner, kind: 'ReplicaSet' }] }),
    }),
  );

describe('objects of one owner', () => {
  test('share equal labels, annotations and owners, and nothing else', () => {
    const siblings = new Siblings();
    const [one, two] = [entry('one'), entry('two')];
    expect(siblings.sharing(one)).toBe(one);
    const shared = siblings.sharing(two);
    expect(shared).toEqual(two);
    expect([shared.labels, shared.annotations, shared.owners].map((text) => text !== undefined)).toEqual([
      ...[true, true, true],
    ]);
    expect(shared.labels).toBe(one.labels);
    expect(shared.annotations).toBe(one.annotations);
    expect(shared.owners).toBe(one.owners);
    expect([shared.name, shared.uid, shared.encoded === two.encoded]).toEqual(['two', 'uid-two', true]);
  });

  test('keep labels that differ, whatever came before', () => {
    const siblings = new Siblings();
    siblings.sharing(entry('one'));
    const more = entry('two', { labels: { app: 'web', pod: 'two' } as { app: string } });
    expect(siblings.sharing(more).labels).toBe(more.labels);
    const less = entry('three');
    expect(siblings.sharing(less).labels).toEqual({ app: 'web' });
    expect(siblings.sharing(entry('four')).labels).toBe(less.labels);
  });

  test('of another owner, or of none, share nothing', () => {
    const siblings = new Siblings();
    for (const owner of ['uid-set', 'uid-other', '']) {
      const first = entry(`${owner}-1`, { owner });
      expect(siblings.sharing(first)).toBe(first);
    }
    const free = entry('free', { owner: '' });
    expect(siblings.sharing(free)).toBe(free);
  });
});
