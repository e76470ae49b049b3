import { describe, expect, test } from 'vitest';
import { type Change, isSameShape, sharingTexts, withPast } from '../../../../src/resources/entries/change.ts';
import type { Entry } from '../../../../src/resources/entries/entry.ts';
import { makeNode, toNodeEntry } from '../node-objects.ts';

const entry: Entry = toNodeEntry(makeNode('node-a', { labels: {}, annotations: {} }));
const mark = (version: number) => ({ version, changedAt: `${version}` });
const STATE = { newest: '0', count: 0 };

const CHANGE: Change = {
  key: 'node-a',
  ...mark(1),
  seen: { objects: STATE, added: STATE },
  addedAt: mark(1),
  shapedAt: 1,
  past: [],
  pastForgottenAt: mark(0),
  isNewest: true,
};

test('four past shapes of a node are remembered, and when the newest of the others ended', () => {
  let change = CHANGE;
  const known: unknown[] = [];
  for (let version = 2; version <= 7; version++) {
    change = { ...change, ...withPast(change, entry, mark(version)), shapedAt: version };
    known.push([change.past.map(({ from, until }) => [from, until.version]).join(' '), change.pastForgottenAt.version]);
  }
  expect(known).toEqual([
    ['1,2', 0],
    ['1,2 2,3', 0],
    ['1,2 2,3 3,4', 0],
    ['1,2 2,3 3,4 4,5', 0],
    ['2,3 3,4 4,5 5,6', 2],
    ['3,4 4,5 5,6 6,7', 3],
  ]);
});

test('a past shape is all that filters read of the node, without its bytes', () => {
  const { name, namespace, uid, labels, annotations, owners, status } = entry;
  const shape = { name, namespace, uid, labels, annotations, owners, status };
  expect(withPast(CHANGE, entry, mark(2)).past[0]?.shape).toEqual(shape);
});

describe('the shape of a node', () => {
  const owned: Entry = { ...entry, owners: [{ uid: '1', kind: 'Machine' }] };

  test.each<[string, Partial<Entry>]>([
    ['its status', { status: 'unschedulable' }],
    ['its labels', { labels: { a: 'b' } }],
    ['its annotations', { annotations: { a: 'b' } }],
    ['the uid of an owner', { owners: [{ uid: '2', kind: 'Machine' }] }],
    ['the kind of an owner', { owners: [{ uid: '1', kind: 'MachinePool' }] }],
    ['one owner less', { owners: [] }],
    ['one owner more', { owners: [...owned.owners, ...owned.owners] }],
  ])('is another with %s', (_, change) => {
    expect(isSameShape(owned, { ...owned, ...change })).toBe(false);
  });

  test('is the same with equal owners and anything else that filters do not read', () => {
    const owners = owned.owners.map((owner) => ({ ...owner }));
    expect(isSameShape(owned, { ...owned, owners, createdAt: 1, resourceVersion: '2' })).toBe(true);
  });
});

describe('the texts of a node that changed', () => {
  const before: Entry = { ...entry, labels: { a: '1', b: '2' }, annotations: { c: '3' } };

  test('are those that it had where they are equal, so that its shape is the same', () => {
    const shared = sharingTexts(before, { ...before, labels: { a: '1', b: '2' }, annotations: { c: '3' } });
    expect([shared.labels === before.labels, shared.annotations === before.annotations]).toEqual([true, true]);
    expect(isSameShape(before, shared)).toBe(true);
  });

  test.each([
    ['another value', { a: '1', b: '3' }],
    ['one less', { a: '1' }],
    ['one more', { a: '1', b: '2', c: '3' }],
    ['another name', { a: '1', c: '2' }],
    ['the name of a member that every object has', { constructor: '1' }],
    ['none', undefined],
  ])('are its own with %s', (_, labels) => {
    const shared = sharingTexts(before, { ...before, labels });
    expect(shared.labels).toEqual(labels);
    expect(isSameShape(before, shared)).toBe(false);
    expect(sharingTexts({ ...before, labels }, before).labels).toEqual(before.labels);
  });
});

describe('what a kind keeps of an object', () => {
  const kind = { isSameOwn: (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b) };
  const before: Entry = { ...entry, own: { node: 'one' } };

  test('is part of its shape and of past shapes if the kind can compare it', () => {
    const equal = sharingTexts(before, { ...before, own: { node: 'one' } }, kind);
    expect(equal.own).toBe(before.own);
    expect(isSameShape(before, equal, kind)).toBe(true);
    expect(isSameShape(before, sharingTexts(before, { ...before, own: { node: 'two' } }, kind), kind)).toBe(false);
    expect(withPast(CHANGE, before, mark(2), kind).past[0]?.shape.own).toBe(before.own);
  });

  test('is no part of them otherwise', () => {
    const changed = sharingTexts(before, { ...before, own: { node: 'two' } });
    expect(changed.own).toEqual({ node: 'two' });
    expect(isSameShape(before, changed)).toBe(true);
    expect(withPast(CHANGE, before, mark(2)).past[0]?.shape.own).toBeUndefined();
  });
});
