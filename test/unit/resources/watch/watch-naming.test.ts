import { describe, expect, test } from 'vitest';
import type { Change } from '../../../../src/resources/entries/change.ts';
import { WatchNaming } from '../../../../src/resources/watch/watch-version.ts';
import { makeCache, makeNode } from '../node-objects.ts';

function namingOf(resourceVersion: string): WatchNaming {
  const { nodes, putNode } = makeCache();
  putNode(makeNode('node-a', { resourceVersion }));
  return new WatchNaming(nodes, 'e1');
}

const seen = (nodes: string, pods: string) => ({
  objects: { newest: nodes, count: 1 },
  added: { newest: pods, count: 2 },
});

describe('the names of what a watch tells', () => {
  test.each([
    ['7', '7.1.0.0', '0'],
    ['x7', 'e1-1', 'e1-0'],
  ])('where a node has version %s: %s is the list of now, and %s what is before all', (version, current, nothing) => {
    const naming = namingOf(version);
    expect([naming.current(), naming.nothing()]).toEqual([current, nothing]);
  });

  test.each([
    ['as new as the list', '7', '9', '7.1.9.2'],
    ['older', '6', '8', '7.1.9.2'],
    ['newer than the nodes of the list', '8', '9', '8.1.9.2-7.1.9.2'],
    ['newer than the pods of the list', '7', '10', '7.1.10.2-7.1.9.2'],
  ])('the last node of a list that is %s has this version', (_, nodes, pods, text) => {
    const change = { seen: seen(nodes, pods) } as Change;
    expect(namingOf('7').completing(change, '7.1.9.2')).toEqual({ text, isResumable: true });
  });

  test('the last node of a list that only this process knows has the version of the list', () => {
    const change = { seen: seen('x9', 'x9') } as Change;
    expect(namingOf('x7').completing(change, 'e1-1')).toEqual({ text: 'e1-1', isResumable: true });
  });
});
