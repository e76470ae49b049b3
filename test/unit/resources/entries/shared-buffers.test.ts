import { expect, test } from 'vitest';
import { makeCache, makeNode } from '../node-objects.ts';

const NODES = 400;
/** A text of this length comes from Node's pool. */
const LENGTH = 3_000;

/** Seven of eight, in an order without neighbours: most of a buffer is not needed, and some entry of almost every leaf is still there. */
const changed = Array.from({ length: (NODES * 7) / 8 }, (_, at) => (at * 149) % NODES);

test('objects that change one by one do not keep the buffers that they had before', () => {
  const { nodes, putNode } = makeCache({ usage: false });
  const put = (at: number, version: number): void =>
    putNode(
      makeNode(`node-${at}`, { resourceVersion: String(version) }, { spec: { note: `${version}`.padEnd(LENGTH) } }),
    );
  for (let at = 0; at < NODES; at++) put(at, at + 1);
  for (const leaf of nodes.snapshot().leaves) leaf.joined();
  for (const [turn, at] of changed.entries()) put(at, NODES + turn + 1);
  const buffers = new Set(nodes.entries().map(({ encoded }) => encoded.bytes().buffer));
  const held = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
  const needed = nodes.entries().reduce((sum, { encoded }) => sum + encoded.length, 0);
  expect(held).toBeLessThan(needed * 1.4);
});
