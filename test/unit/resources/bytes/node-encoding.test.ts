import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../../src/kubernetes/object.ts';
import { makeCache, makeNode, makePod, parseNodeListQuery, textOf } from '../node-objects.ts';

/** Text of the whole list. */
function listText(...nodes: readonly KubernetesObject[]): string {
  const { lister, putNode } = makeCache({ usage: false });
  for (const node of nodes) putNode(node);
  return textOf(lister.list(parseNodeListQuery('')).body('identity').pieces);
}

const ZERO_USAGE =
  '"node.gatehouse.io/cpu-limits":"0","node.gatehouse.io/cpu-limits-fraction":"0%",' +
  '"node.gatehouse.io/cpu-requests":"0","node.gatehouse.io/cpu-requests-fraction":"0%",' +
  '"node.gatehouse.io/memory-limits":"0","node.gatehouse.io/memory-limits-fraction":"0%",' +
  '"node.gatehouse.io/memory-requests":"0","node.gatehouse.io/memory-requests-fraction":"0%","node.gatehouse.io/pods":"0"';

describe('node encoding', () => {
  test('an empty list is compact and has no null', () => {
    expect(listText()).toBe('{"items":[],"totalItems":0}');
  });

  test('members keep their stored order, unknown and zero ones included', () => {
    const stored =
      '{"zeta":{"b":0,"a":""},"kind":"Node","metadata":{"uid":"u","name":"n","resourceVersion":"1","x":null,' +
      '"labels":{"z":"1","a":"2"}},"apiVersion":"v1","spec":{},"status":{"n":9007199254740991,"__proto__":{"q":false}}}';
    expect(listText(JSON.parse(stored))).toBe(
      '{"items":[{"zeta":{"b":0,"a":""},"metadata":{"uid":"u","name":"n","selfLink":"/api/v1/nodes/n",' +
        '"resourceVersion":"1","x":null,"labels":{"z":"1","a":"2"}},"spec":{},' +
        '"status":{"n":9007199254740991,"__proto__":{"q":false}}}],"totalItems":1}',
    );
  });

  test('managedFields and a stored selfLink are not answered', () => {
    const node = makeNode('n', { selfLink: '/old', managedFields: [{ manager: 'kubelet' }] });
    expect(listText(node)).toBe(
      '{"items":[{"metadata":{"name":"n","selfLink":"/api/v1/nodes/n","uid":"uid-n","resourceVersion":"1"}}],' +
        '"totalItems":1}',
    );
  });

  test('text beyond ASCII stays as it is, the usage behind it included', () => {
    const { lister, putNode } = makeCache();
    putNode(makeNode('n', { annotations: { 'gatehouse.io/alias-name': 'Größe 😀 <&>' } }, { spec: { ключ: 'é' } }));
    expect(textOf(lister.list(parseNodeListQuery('')).body('identity').pieces)).toBe(
      '{"items":[{"metadata":{"name":"n","selfLink":"/api/v1/nodes/n","uid":"uid-n","resourceVersion":"1",' +
        `"annotations":{"gatehouse.io/alias-name":"Größe 😀 <&>",${ZERO_USAGE}}},"spec":{"ключ":"é"}}],"totalItems":1}`,
    );
  });

  test.each([
    ['none', {}],
    ['null', { annotations: null }],
    ['empty ones', { annotations: {} }],
    ['only overwritten ones', { annotations: { 'node.gatehouse.io/cpu-limits': 'x' } }],
  ])('usage stands where the node has %s annotations', (_what, metadata) => {
    const { lister, putNode } = makeCache();
    putNode(makeNode('n', metadata));
    expect(textOf(lister.get('n')?.body('identity').pieces ?? [])).toBe(
      '{"kind":"Node","apiVersion":"v1","metadata":{"name":"n","selfLink":"/api/v1/nodes/n","uid":"uid-n",' +
        `"resourceVersion":"1","annotations":{${ZERO_USAGE}}}}`,
    );
  });

  test('the get is the list item with kind and apiVersion in front, before and after the list was read', () => {
    const { lister, putNode, putPod } = makeCache();
    putNode(makeNode('node-a', { annotations: { a: 'b' } }));
    for (const cpu of ['1', '250m', '10']) {
      putPod(makePod({ containers: [{ resources: { limits: { cpu } } }] }));
      const early = textOf(lister.get('node-a')?.body('identity').pieces ?? []);
      const list = textOf(lister.list(parseNodeListQuery('')).body('identity').pieces);
      const item = list.slice('{"items":['.length, -'],"totalItems":1}'.length);
      expect(early).toBe(`{"kind":"Node","apiVersion":"v1",${item.slice(1)}`);
      expect(textOf(lister.get('node-a')?.body('identity').pieces ?? [])).toBe(early);
    }
  });

  test.each([
    ['metadata.name is missing or not text', { name: undefined }],
    ['metadata.uid is missing or not text', { uid: 5 }],
    ['metadata.resourceVersion is missing or not text', { resourceVersion: '' }],
    ['metadata.labels is not an object of texts', { labels: { a: 1 } }],
    ['metadata.labels is not an object of texts', { labels: ['a'] }],
    ['metadata.annotations is not an object of texts', { annotations: 'a' }],
  ])('%s: the node is refused, for metadata %j', (message, metadata) => {
    expect(() => makeCache().putNode(makeNode('n', metadata))).toThrow(message);
  });

  test('an object without metadata is refused', () => {
    expect(() => makeCache().putNode({ kind: 'Node' } as unknown as KubernetesObject)).toThrow(
      'metadata.name is missing',
    );
  });

  test('a node of odd members is passed through', () => {
    const odd = { spec: 'x', status: { conditions: {}, allocatable: [1] }, extra: [] };
    const metadata = { ownerReferences: 1, creationTimestamp: 5, labels: null };
    expect(listText(makeNode('n', metadata, odd))).toBe(
      '{"items":[{"metadata":{"name":"n","selfLink":"/api/v1/nodes/n","uid":"uid-n","resourceVersion":"1",' +
        '"ownerReferences":1,"creationTimestamp":5,"labels":null},"spec":"x",' +
        '"status":{"conditions":{},"allocatable":[1]},"extra":[]}],"totalItems":1}',
    );
  });
});
