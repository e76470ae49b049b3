import { describe, expect, test } from 'vitest';
import { lettersIn, listOf, makeCache, makeNode, namesOf } from '../node-objects.ts';

const ALIAS = 'gatehouse.io/alias-name';

function exampleLister() {
  const { lister, putNode } = makeCache();
  const created = (day: string) => ({ creationTimestamp: `2026-01-${day}T00:00:00Z` });
  putNode(makeNode('node-a', { ...created('01'), labels: { a: 'b', zone: 'x' } }));
  putNode(makeNode('node-b', created('02'), { spec: { unschedulable: true } }));
  const unknown = { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
  putNode(makeNode('node-c', { ...created('01'), annotations: { [ALIAS]: 'Alias C' } }, unknown));
  putNode(makeNode('node-d', { ...created('02'), labels: { a: 'b', c: 'd' } }, { status: {} }));
  return lister;
}

const lister = exampleLister();
const lettersOf = (query: string) => lettersIn(lister, query);

describe('list filters', () => {
  test.each([
    ['NF-01', 'name=ode-', 'd,b,c,a'],
    ['NF-01', 'name=NODE', ''],
    ['NF-01', 'name=', 'd,b,c,a'],
    ['NF-02', 'names=node-a,node-b', 'b,a'],
    ['NF-02', 'names=node-a, node-b', 'a'],
    ['NF-02', 'names=', ''],
    ['NF-03', 'alias=Alias', 'c'],
    ['NF-03', 'alias=alias', ''],
    ['NF-03', 'alias=', 'c'],
    ['NF-04', 'namespace=', 'd,b,c,a'],
    ['NF-04', 'namespace=default', ''],
    ['NF-05', 'status=unschedulable', 'b'],
    ['NF-05', 'status=warning', 'c'],
    ['NF-05', 'status=running', 'd,a'],
    ['NF-07', 'annotation=node.gatehouse.io/cpu-requests', ''],
    ['NF-07', 'annotation=!node.gatehouse.io/cpu-requests', 'd,b,c,a'],
    ['NF-09', 'labelSelector=a=b&label=c=d', 'd'],
    ['uid', 'uid=uid-node-b', 'b'],
    ['uid', 'uid=', ''],
    ['label', 'label=', 'd,b,c,a'],
    ['annotation', 'annotation=', 'd,b,c,a'],
    ['annotation', `annotation=${ALIAS}`, 'c'],
    ['labelSelector', 'labelSelector=!zone', 'd,b,c'],
  ])('%s ?%s answers %s', (_id, query, letters) => {
    expect(lettersOf(query)).toBe(letters);
    expect(listOf(lister, query).totalItems).toBe(letters === '' ? 0 : letters.split(',').length);
  });

  test('NF-06 the total counts after filters and before paging', () => {
    expect(lettersOf('name=node&status=running&limit=1')).toBe('d');
    expect(listOf(lister, 'name=node&status=running&limit=1').totalItems).toBe(2);
  });

  test('NF-03 an empty alias needs a stored annotation, whichever it is', () => {
    const { lister, putNode } = makeCache();
    putNode(makeNode('empty', { annotations: {} }));
    putNode(makeNode('other', { annotations: { a: 'b' } }));
    expect(namesOf(lister, 'alias=')).toEqual(['other']);
  });

  test('owners match by exact uid and kind', () => {
    const { lister, putNode } = makeCache();
    const ownerReferences = [{ kind: 'Machine', uid: 'm-1', name: 'x' }, 'odd', null];
    putNode(makeNode('owned', { ownerReferences }));
    putNode(makeNode('free', { ownerReferences: 'odd' }));
    expect(namesOf(lister, 'ownerKind=Machine')).toEqual(['owned']);
    expect(namesOf(lister, 'ownerReference=m-1')).toEqual(['owned']);
    expect(namesOf(lister, 'ownerKind=machine')).toEqual([]);
    expect(namesOf(lister, 'ownerReference=')).toEqual([]);
    expect(namesOf(lister, 'ownerKind=')).toEqual([]);
  });

  test('filters read a stored usage annotation, not the answer', () => {
    const { lister, putNode } = makeCache();
    putNode(makeNode('node-a', { annotations: { 'node.gatehouse.io/cpu-requests': '7' } }));
    expect(namesOf(lister, 'annotation=node.gatehouse.io/cpu-requests=7')).toEqual(['node-a']);
    expect(listOf(lister).items[0]?.metadata.annotations['node.gatehouse.io/cpu-requests']).toBe('0');
  });
});
