import { describe, expect, test } from 'vitest';
import type { Entry } from '../../../../src/resources/entries/entry.ts';
import { atOnce } from '../../../../src/runtime/time-slices.ts';
import { eachTurn, slowSlices } from '../../../support/steps.ts';
import { makeCache, makeNode, makePod } from '../node-objects.ts';

const podOn = (nodeName: string, version: string, cpu = '1') =>
  makePod(
    { nodeName, containers: [{ resources: { requests: { cpu } } }] },
    { name: `on-${nodeName}`, resourceVersion: version },
  );

/** Three nodes of version 1, of which two may be counted at once. */
function threeNodes() {
  const cache = makeCache({ slices: slowSlices(), mostCountedAtOnce: 2 });
  for (const name of ['node-a', 'node-b', 'node-c']) cache.putNode(makeNode(name));
  return cache;
}

test('a node that is not there is removed without a word', () => {
  const { nodes } = threeNodes();
  const { version } = nodes;
  nodes.remove('node-z', '2');
  expect([nodes.size, nodes.version, [...nodes.changes.since(version)]]).toEqual([3, version, []]);
});

describe('usage that changed', () => {
  test('is counted at once of as many nodes as may be, and aside of one more', async () => {
    const { nodes, putPod } = threeNodes();
    const putPods = (names: readonly string[], cpu: string): void => {
      for (const name of names) putPod(podOn(name, '2', cpu));
    };
    const { version } = nodes;
    putPods(['node-a', 'node-b'], '1');
    expect(nodes.isDecorated).toBe(true);
    nodes.decorate();
    expect(nodes.version).toBe(version + 2);
    putPods(['node-a', 'node-b', 'node-c'], '2');
    expect(nodes.isDecorated).toBe(false);
    nodes.decorate();
    expect([nodes.version, nodes.isDecorated]).toEqual([version + 2, false]);
    await eachTurn(() => nodes.isDecorated);
    expect(nodes.version).toBe(version + 5);
  });

  test('is told once of a node that changed while it was counted aside', async () => {
    const { nodes, putNode, putPod } = threeNodes();
    for (const name of ['node-a', 'node-b', 'node-c']) putPod(podOn(name, '2'));
    const { version } = nodes;
    nodes.decorate();
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
    expect(nodes.isDecorated).toBe(false);
    putNode(makeNode('node-a', { resourceVersion: '3' }));
    await eachTurn(() => nodes.isDecorated);
    const told = [...nodes.changes.since(version)].map((change) => [change.key, change.version]);
    expect(told).toEqual([
      ['node-a', version + 1],
      ['node-b', version + 2],
      ['node-c', version + 3],
    ]);
    // Versions of events never go back: what was counted before that change is shown after it.
    expect([...nodes.changes.since(version)].map(({ seen }) => seen.objects.newest)).toEqual(['3', '3', '3']);
  });

  test('is none where there is to be no usage', () => {
    const { nodes, putNode, putPod } = makeCache({ usage: false, mostCountedAtOnce: 0 });
    putNode(makeNode('node-a'));
    putPod(podOn('node-a', '2'));
    const { version } = nodes;
    nodes.decorate();
    expect([nodes.isDecorated, nodes.version]).toEqual([true, version]);
  });

  test.each([
    ['at once', ['node-a', 'node-b']],
    ['aside', ['node-a', 'node-b', 'node-c']],
  ])('is no news of a node that went, counted %s', async (_, names) => {
    const { nodes, putPod } = threeNodes();
    nodes.remove('node-a', '2');
    const before = nodes.progress.state;
    for (const name of names) putPod(podOn(name, '3'));
    nodes.decorate();
    await eachTurn(() => nodes.isDecorated);
    expect(nodes.progress.changedAfter(before).map(({ key }) => key)).toEqual(names.slice(1));
  });
});

describe('a node that changed', () => {
  test('is no news to who has that change, and of the pods all that are on it', () => {
    const { nodes, putNode, putPod } = threeNodes();
    putPod(podOn('elsewhere', '5'));
    nodes.decorate();
    putNode(makeNode('node-a', { resourceVersion: '2' }));
    const changedAfter = (node: string, pod: string): string[] =>
      nodes.progress
        .changedAfter({ objects: { newest: node, count: 3 }, added: { newest: pod, count: 0 } })
        .map(({ key }) => key);
    expect([changedAfter('1', '4'), changedAfter('2', '4')]).toEqual([['node-a'], []]);
  });

  test('is news to who has not heard of a pod that came before the node', () => {
    const { nodes, putNode, putPod } = threeNodes();
    putPod(podOn('node-d', '5'));
    nodes.decorate();
    putNode(makeNode('node-d', { resourceVersion: '2' }));
    const state = { objects: { newest: '2', count: 4 }, added: { newest: '4', count: 0 } };
    expect(nodes.progress.changedAfter(state).map(({ key }) => key)).toEqual(['node-d']);
  });
});

test('a list of nodes is taken over one node a step: those that went, all that are listed, the news among them, and the change of each', () => {
  const { nodes } = threeNodes();
  const listed = (version: string): Entry[] =>
    ['node-b', 'node-c', 'node-d', 'node-e'].map((name) =>
      nodes.toEntry(makeNode(name, { resourceVersion: name === 'node-d' ? version : '1' })),
    );
  const stepsFor = (entries: Entry[]): number => {
    const steps = nodes.prepare(entries, { sameHistory: true, resourceVersion: '9' });
    for (let count = 0; ; count++) {
      const step = steps.next();
      if (!step.done) continue;
      step.value();
      return count;
    }
  };
  expect([stepsFor(listed('1')), stepsFor(listed('1')), stepsFor(listed('2'))]).toEqual([1 + 4 + 2 + 3, 4, 4 + 1 + 1]);
});

test('a list that is dropped leaves no trace, even of usage that its nodes would have shown', () => {
  const { nodes, putPod } = threeNodes();
  nodes.decorate();
  const before = nodes.progress.state;
  putPod(podOn('node-a', '5'));
  const entries = ['node-a', 'node-b', 'node-c', 'node-d'].map((name) =>
    nodes.toEntry(makeNode(name, { resourceVersion: name === 'node-a' ? '2' : '1' })),
  );
  const changed = (): string[] => nodes.progress.changedAfter(before).map(({ key }) => key);
  const replacement = { sameHistory: true, resourceVersion: '9' };
  atOnce(nodes.prepare(entries, replacement));
  expect([nodes.progress.state, changed()]).toEqual([before, []]);
  atOnce(nodes.prepare(entries, replacement))();
  expect(changed()).toEqual(['node-a', 'node-d']);
});

test('a node that came back is no removal any more, however many others went after it', () => {
  const { nodes, putNode } = threeNodes();
  nodes.remove('node-a', '2');
  putNode(makeNode('node-a', { resourceVersion: '3' }));
  const { version } = nodes;
  for (let at = 0; at < 1_000; at++) {
    putNode(makeNode(`other-${at}`, { resourceVersion: '4' }));
    nodes.remove(`other-${at}`, '5');
  }
  expect(nodes.changes.of('node-a')).toBeDefined();
  expect(nodes.changes.knows(version)).toBe(true);
});
