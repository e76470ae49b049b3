import { describe, expect, test } from 'vitest';
import { BoundedMap } from '../../src/runtime/bounded-map.ts';
import { usedHeap } from '../support/used-heap.ts';

const KEYS = ['a', 'b', 'c', 'd', 'e'];
const known = (map: BoundedMap<number>): string[] => KEYS.filter((key) => map.get(key) !== undefined);

function full(): BoundedMap<number> {
  const map = new BoundedMap<number>(3);
  for (const [at, key] of ['a', 'b', 'c'].entries()) map.set(key, at);
  return map;
}

describe('a bounded map', () => {
  test('pushes out what was set longest ago, one for one', () => {
    const map = full();
    map.set('d', 3);
    expect([map.size, ...known(map)]).toEqual([3, 'b', 'c', 'd']);
    map.set('e', 4);
    expect([map.size, ...known(map)]).toEqual([3, 'c', 'd', 'e']);
  });

  test('what is set again is the newest, and pushes nothing out', () => {
    const map = full();
    map.set('a', 9);
    expect([map.size, ...known(map)]).toEqual([3, 'a', 'b', 'c']);
    map.set('d', 3);
    expect([...known(map), map.get('a')]).toEqual(['a', 'c', 'd', 9]);
  });

  test('what is read stays as old as it was', () => {
    const map = full();
    map.get('a');
    map.set('d', 3);
    expect(known(map)).toEqual(['b', 'c', 'd']);
  });

  test('what is deleted makes room', () => {
    const map = full();
    map.delete('b');
    map.set('d', 3);
    expect([map.size, ...known(map)]).toEqual([3, 'a', 'c', 'd']);
    map.set('e', 4);
    expect(known(map)).toEqual(['c', 'd', 'e']);
  });

  test('goes on after all was deleted', () => {
    const map = full();
    for (const key of KEYS) map.delete(key);
    for (const [at, key] of KEYS.entries()) map.set(key, at);
    expect([map.size, ...known(map)]).toEqual([3, 'c', 'd', 'e']);
  });

  test('of thousands keeps the last ones', () => {
    const map = new BoundedMap<number>(100);
    for (let at = 0; at < 5_000; at++) map.set(`key ${at}`, at);
    const kept = Array.from({ length: 5_000 }, (_, at) => at).filter((at) => map.get(`key ${at}`) === at);
    expect([map.size, kept.length, kept[0]]).toEqual([100, 100, 4_900]);
  });
});

test.each([
  ['with room', 1_000],
  ['that is full', 1],
])('a bounded map %s needs no more memory however often its one entry is set', (_, most) => {
  const map = new BoundedMap<number>(most);
  const set = (times: number): void => {
    for (let at = 0; at < times; at++) map.set('everybody', at);
  };
  for (const key of ['a', 'b', 'c']) map.set(key, 0);
  for (const key of ['a', 'b', 'c']) map.delete(key);
  set(1_000);
  const before = usedHeap();
  // The tables that an iterator held were 150 bytes a set: 30 MB.
  set(200_000);
  expect(usedHeap() - before).toBeLessThan(5_000_000);
});
