import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Entry } from '../../../../src/resources/entries/entry.ts';
import type { ResourceStore } from '../../../../src/resources/entries/store.ts';
import { TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { replaceAll } from '../../../support/replace-all.ts';
import { eachTurn, shortSlices } from '../../../support/steps.ts';
import { LARGE, makeCache, makeNode, makePod, namesOf, parseNodeListQuery, textOf } from '../node-objects.ts';

/** More leaves than a few, and more nodes than are counted at once. */
const NODES = 1_000;
const names = Array.from({ length: NODES }, (_, index) => `node-${String(index).padStart(4, '0')}`);
const EVERYTHING = parseNodeListQuery('');

const podOn = (nodeName: string, cpu: string) =>
  makePod({ nodeName, containers: [{ resources: { requests: { cpu } } }] }, { name: `on-${nodeName}` });

/** A thousand nodes with a pod of one core each, all counted. */
async function crowd(slices = shortSlices(), metadata = {}) {
  const cache = makeCache({ slices });
  const { nodes, pods } = cache;
  const relist = (cpu: string): void =>
    replaceAll(
      pods,
      names.map((name) => pods.toEntry(podOn(name, cpu))),
    );
  replaceAll(
    nodes,
    names.map((name) => nodes.toEntry(makeNode(name, metadata))),
  );
  relist('1');
  await eachTurn(() => shownIn(nodes)['1'] === NODES);
  return { ...cache, relist };
}

/** It is looked at in every turn, and most nodes are as they were. */
const requested = new WeakMap<object, string>();

function cpuOf(encoded: Entry['encoded']): string {
  const cpu = requested.get(encoded) ?? /cpu-requests":"([^"]*)"/.exec(textOf([encoded.bytes()]))?.[1] ?? 'none';
  requested.set(encoded, cpu);
  return cpu;
}

/** How many nodes the list shows with which CPU requests. */
function shownIn(nodes: ResourceStore): Record<string, number> {
  const shown: Record<string, number> = {};
  for (const { entries } of nodes.snapshot().leaves)
    for (const { encoded } of entries) {
      const cpu = cpuOf(encoded);
      shown[cpu] = (shown[cpu] ?? 0) + 1;
    }
  return shown;
}

/** The different contents that readers see, one look a turn, up to the last. */
async function seenUntil(nodes: ResourceStore, isLast: (shown: Record<string, number>) => boolean): Promise<string[]> {
  const seen = new Set<string>();
  const turns = await eachTurn(() => {
    const shown = shownIn(nodes);
    seen.add(JSON.stringify(shown));
    return isLast(shown);
  });
  expect(turns).toBeGreaterThan(10);
  return [...seen];
}

describe('usage of many nodes that changes at once', () => {
  test('is seen of none of them, then of all', async () => {
    const { nodes, relist } = await crowd();
    relist('2');
    const seen = await seenUntil(nodes, (shown) => shown['2'] === NODES);
    expect(seen).toEqual([`{"1":${NODES}}`, `{"2":${NODES}}`]);
  });

  test('makes one version for each node, and the old one stays until then', async () => {
    const { nodes, relist } = await crowd();
    const { version } = nodes;
    relist('2');
    await eachTurn(() => {
      nodes.snapshot();
      return nodes.isDecorated || nodes.version !== version;
    });
    expect(nodes.version).toBe(version + NODES);
    expect([...nodes.changes.since(version)].length).toBe(NODES);
  });

  test('is claimed by no version before it is shown, and a client that has it waits until then', async () => {
    const { nodes, relist } = await crowd();
    const { state } = nodes.progress;
    relist('2');
    nodes.snapshot();
    const { seen } = nodes.progress;
    expect([nodes.progress.state, nodes.progress.hasSeen(seen)]).toEqual([state, false]);
    await eachTurn(() => nodes.isDecorated);
    expect([nodes.progress.state.added, nodes.progress.hasSeen(seen)]).toEqual([seen.added, true]);
  });

  test('takes in what happens to nodes meanwhile', async () => {
    const { nodes, relist, putNode, lister } = await crowd();
    relist('2');
    nodes.snapshot();
    expect(nodes.isDecorated).toBe(false);
    nodes.remove('node-0500', '2');
    putNode(makeNode('node-0001', { resourceVersion: '2', labels: { changed: 'meanwhile' } }));
    putNode(makeNode('new'));
    expect(namesOf(lister, 'labelSelector=changed')).toEqual(['node-0001']);
    await eachTurn(() => nodes.isDecorated);
    expect(shownIn(nodes)).toEqual({ 2: NODES - 1, 0: 1 });
    expect(namesOf(lister, 'labelSelector=changed')).toEqual(['node-0001']);
    expect(namesOf(lister, 'sortBy=name').filter((name) => ['node-0500', 'new'].includes(name))).toEqual(['new']);
  });

  test('lets a client that goes on know of a node that shows newer usage than the others', async () => {
    const { nodes, relist, putNode, putPod } = await crowd();
    relist('2');
    nodes.snapshot();
    putPod(makePod({ nodeName: 'node-0001' }, { name: 'later', resourceVersion: '12' }));
    putNode(makeNode('node-0001', { resourceVersion: '13' }));
    const known = { objects: nodes.progress.objects.state, added: { newest: '9', count: NODES } };
    expect(nodes.progress.changedAfter(known).map(({ key }) => key)).toEqual(['node-0001']);
  });

  test('gives way to a list of nodes and is counted in after it', async () => {
    const { nodes, relist } = await crowd();
    relist('2');
    nodes.snapshot();
    replaceAll(
      nodes,
      names.slice(1).map((name) => nodes.toEntry(makeNode(name))),
      { sameHistory: true },
    );
    await eachTurn(() => shownIn(nodes)['2'] === NODES - 1 && nodes.isDecorated);
    expect(nodes.size).toBe(NODES - 1);
  });

  test('is counted whether or not anybody asks', async () => {
    const { nodes, relist, lister, clock } = await crowd();
    const stop = new AbortController();
    const running = lister.run(stop.signal);
    relist('2');
    const { version } = nodes;
    await clock.advance(100);
    await eachTurn(() => nodes.version === version + NODES);
    stop.abort();
    await running;
  });

  test('of few nodes is seen at once', async () => {
    const { nodes, putPod } = await crowd(new TimeSlices({ monotonic: () => 0 }));
    expect(shownIn(nodes)).toEqual({ 1: NODES });
    for (const name of names.slice(0, 300)) putPod(podOn(name, '3'));
    expect(shownIn(nodes)).toEqual({ 1: NODES - 300, 3: 300 });
  });
});

describe('a list of nodes that takes many turns', () => {
  const relisted = (nodes: ResourceStore) =>
    names.slice(NODES / 2).map((name) => nodes.toEntry(makeNode(name, { resourceVersion: '2' })));

  test('is seen whole at its end', async () => {
    const slices = shortSlices();
    const { nodes, lister } = await crowd(slices);
    const before = namesOf(lister);
    const show = slices.run(nodes.prepare(relisted(nodes), { sameHistory: true, resourceVersion: '2' }));
    let shown: (() => void) | undefined;
    void Promise.resolve(show).then((ready) => {
      shown = ready;
    });
    const turns = await eachTurn(() => {
      expect([nodes.size, namesOf(lister).length]).toEqual([NODES, NODES]);
      return shown !== undefined;
    });
    expect(turns).toBeGreaterThan(10);
    expect(namesOf(lister)).toEqual(before);
    shown?.();
    expect(namesOf(lister)).toEqual(before.filter((name) => name >= 'node-0500'));
    expect([...nodes.entries()].every((entry) => entry.resourceVersion === '2')).toBe(true);
  });

  test('leaves what was there when it is broken off, and usage goes on', async () => {
    const { nodes, lister, relist } = await crowd();
    const before = namesOf(lister);
    const { version } = nodes.snapshot();
    const steps = nodes.prepare(relisted(nodes), { sameHistory: true, resourceVersion: '2' });
    for (let step = 0; step < NODES; step++) steps.next();
    relist('2');
    expect([nodes.snapshot().version, nodes.isDecorated]).toEqual([version, false]);
    steps.return(() => undefined);
    expect(namesOf(lister)).toEqual(before);
    await eachTurn(() => shownIn(nodes)['2'] === NODES);
  });

  test('counts in afterwards what usage changed meanwhile', async () => {
    const { nodes, relist } = await crowd();
    const steps = nodes.prepare(relisted(nodes), { sameHistory: true, resourceVersion: '2' });
    let step = steps.next();
    for (let at = 0; !step.done; at++) {
      if (at === 700) relist('2');
      step = steps.next();
    }
    step.value();
    await eachTurn(() => shownIn(nodes)['2'] === NODES / 2);
  });
});

describe.each(['identity', 'gzip'] as const)('a long list, %s', (coding) => {
  test('is composed over many turns, once for all who wait, of the state at which it was asked for', async () => {
    const { lister, nodes } = await crowd(shortSlices(), LARGE);
    const asked = lister.list(EVERYTHING);
    const other = lister.list(EVERYTHING);
    const composed = asked.compose(coding);
    expect(composed).toBeInstanceOf(Promise);
    expect(other.compose(coding)).toBe(composed);
    nodes.remove('node-0500', '2');
    let isOver = false;
    void composed?.then(() => {
      isOver = true;
    });
    expect(await eachTurn(() => isOver)).toBeGreaterThan(1);
    expect(asked.compose(coding)).toBeUndefined();
    expect(asked.body(coding).pieces).toBe(asked.body(coding).pieces);
    const body = Buffer.concat(asked.body(coding).pieces);
    const { items } = JSON.parse((coding === 'gzip' ? gunzipSync(body) : body).toString());
    expect(items.length).toBe(NODES);
    expect(asked.body(coding).length).toBe(body.length);
  });
});
