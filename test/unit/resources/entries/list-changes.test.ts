import { expect, test } from 'vitest';
import { replaceAll } from '../../../support/replace-all.ts';
import { makeCache, makeNode } from '../node-objects.ts';

/** More than the log remembers. */
const GONE = 1_001;

test('a list that brings a removed object back tells of it, though it removes more objects than are remembered', () => {
  const { nodes } = makeCache();
  nodes.put(nodes.toEntry(makeNode('back')));
  nodes.remove('back', '500');
  for (let at = 0; at < GONE; at++) nodes.put(nodes.toEntry(makeNode(`gone-${at}`)));
  const before = nodes.version;
  const entries = [nodes.toEntry(makeNode('back'))];
  for (let at = 0; at < GONE; at++) entries.push(nodes.toEntry(makeNode(`new-${at}`)));
  replaceAll(nodes, entries);
  const shown = [...nodes.changes.since(before)].filter(({ removed }) => removed === undefined).map(({ key }) => key);
  expect(shown).toContain('back');
  expect(shown).toHaveLength(GONE + 1);
});
