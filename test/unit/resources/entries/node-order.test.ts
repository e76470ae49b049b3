import { describe, expect, test } from 'vitest';
import { lettersIn, listOf, makeCache, makeNode, namesOf } from '../node-objects.ts';

/** node-a created 01-01, node-b 01-02, node-c 01-01, node-d 01-02, as the worked example of docs/contract/nodes.md, section 4. */
function exampleLister() {
  const { lister, putNode } = makeCache();
  for (const [name, day] of [
    ['c', '01'],
    ['a', '01'],
    ['d', '02'],
    ['b', '02'],
  ]) {
    putNode(makeNode(`node-${name}`, { creationTimestamp: `2026-01-${day}T00:00:00Z` }));
  }
  return lister;
}

const lister = exampleLister();
const lettersOf = (query: string) => lettersIn(lister, query);

describe('order and pages', () => {
  test.each([
    ['NO-01', '', 'd,b,c,a'],
    ['NO-02', 'ascending=true', 'a,c,b,d'],
    ['NO-03', 'sortBy=createTime', 'd,b,c,a'],
    ['NO-03', 'sortBy=creationTimestamp', 'd,b,c,a'],
    ['NO-04', 'sortBy=name', 'd,c,b,a'],
    ['NO-04', 'sortBy=name&ascending=1', 'a,b,c,d'],
    ['NO-05', 'limit=2', 'd,b'],
    ['NO-05', 'limit=2&page=', 'd,b'],
    ['NO-06', 'limit=2&page=2', 'c,a'],
    ['NO-06', 'limit=3&page=2', 'a'],
    ['NO-06', 'limit=3&page=2&ascending=true', 'd'],
    ['NO-07', 'limit=2&page=3', ''],
    ['NO-07', 'limit=2&page=9', ''],
    ['NO-07', 'limit=2&page=0', ''],
    ['NO-07', 'limit=2&page=-1', ''],
    ['NO-07', 'limit=2&page=9223372036854775807', ''],
    ['NO-07', 'limit=0', ''],
    ['NO-07', 'limit=0&page=2', ''],
    ['NO-07', 'limit=-2', ''],
    ['NO-07', 'limit=-2&page=-3', ''],
    ['NO-08', 'limit=-1&page=7', 'd,b,c,a'],
    ['NO-08', 'page=5', 'd,b,c,a'],
    ['NO-08', 'limit=9223372036854775807', 'd,b,c,a'],
    ['NO-09', 'limit=4&page=4611686018427387905', ''],
  ])('%s ?%s answers %s of 4', (_id, query, letters) => {
    expect(lettersOf(query)).toBe(letters);
    expect(listOf(lister, query).totalItems).toBe(4);
  });

  test('NO-04 names of digits and letters are ordered by bytes', () => {
    const { lister, putNode } = makeCache();
    for (const name of ['foo1', 'foo2', 'bar1']) putNode(makeNode(name));
    expect(namesOf(lister, 'sortBy=name')).toEqual(['foo2', 'foo1', 'bar1']);
  });

  test.each([1, 2, 3, 4, 5])('NO-10 a walk in pages of %i meets every node once, in order', (limit) => {
    const walked = [1, 2, 3, 4, 5]
      .map((page) => lettersOf(`limit=${limit}&page=${page}`))
      .filter((page) => page !== '');
    expect(walked.join()).toBe('d,b,c,a');
  });

  test('a node without creation time is the oldest', () => {
    const { lister, putNode } = makeCache();
    putNode(makeNode('new', { creationTimestamp: '2026-01-01T00:00:00Z' }));
    putNode(makeNode('missing'));
    putNode(makeNode('null', { creationTimestamp: null }));
    putNode(makeNode('old', { creationTimestamp: '1960-01-01T00:00:00Z' }));
    expect(namesOf(lister)).toEqual(['new', 'old', 'null', 'missing']);
  });

  test('offsets of creation times are instants, not texts', () => {
    const { lister, putNode } = makeCache();
    putNode(makeNode('later', { creationTimestamp: '2026-01-01T00:30:00+00:00' }));
    putNode(makeNode('earlier', { creationTimestamp: '2026-01-01T01:00:00+01:00' }));
    expect(namesOf(lister)).toEqual(['later', 'earlier']);
  });
});
