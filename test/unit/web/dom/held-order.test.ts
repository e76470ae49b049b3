import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../../web/api/objects.ts';
import { HeldOrder } from '../../../../web/live/held-order.ts';

const object = (name: string, resourceVersion = '1'): KubernetesObject => ({
  metadata: { name, uid: name, resourceVersion },
});

/** Objects with these names, from this place on. */
const from = (place: number, ...names: readonly string[]): readonly (readonly [number, KubernetesObject])[] =>
  names.map((name, index) => [place + index, object(name)]);

const namesIn = (rows: ReadonlyMap<number, KubernetesObject>): unknown[] =>
  [...rows].toSorted(([a], [b]) => a - b).map(([place, { metadata }]) => [place, metadata.name]);

test('W-10 rows that come on the screen while the order stands still do so from then on', () => {
  const held = new HeldOrder(new Map(from(0, 'a', 'b')));
  const further = from(50, 'x', 'y');
  held.arrange(new Map([...from(0, 'a', 'b'), ...further]), 60);
  const later = held.arrange(new Map([...from(0, 'new', 'a'), ...from(50, 'w', 'x')]), 61);
  expect(namesIn(later)).toEqual([
    [0, 'a'],
    [1, 'b'],
    [50, 'x'],
    [51, 'y'],
  ]);
  expect(held.waiting).toBe(1);
});

test('W-10 a row whose object leaves the pages in memory stays as it was last seen', () => {
  const held = new HeldOrder(new Map(from(0, 'a', 'b')));
  held.arrange(new Map([[0, object('a', '2')], ...from(1, 'b')]), 60);
  const later = held.arrange(new Map(from(0, 'b', 'c')), 60);
  expect(later.get(0)?.metadata).toMatchObject({ name: 'a', resourceVersion: '2' });
});

test('W-11 places that are no longer in memory are given up, and those behind the end of a list that became shorter are not', () => {
  const held = new HeldOrder(new Map([...from(0, 'a'), ...from(59, 'z')]));
  expect(namesIn(held.arrange(new Map(from(0, 'a')), 59))).toEqual([
    [0, 'a'],
    [59, 'z'],
  ]);
  const far = new HeldOrder(new Map([...from(0, 'a'), ...from(50, 'x')]));
  expect(namesIn(far.arrange(new Map(from(50, 'x')), 60))).toEqual([[50, 'x']]);
});
