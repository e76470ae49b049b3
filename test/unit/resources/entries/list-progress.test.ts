import { describe, expect, test } from 'vitest';
import { UsageProgress } from '../../../../src/nodes/usage/usage-decoration.ts';
import { UsageLedger } from '../../../../src/nodes/usage/usage-ledger.ts';
import { ChangeLog } from '../../../../src/resources/entries/change-log.ts';
import { ListProgress } from '../../../../src/resources/entries/list-progress.ts';
import { makeNode, toNodeEntry } from '../node-objects.ts';

const NO_NODES = { newest: '0', count: 0 };
const pods = (newest: string) => ({ objects: NO_NODES, added: { newest, count: 1 } });
const USAGE = [{ nano: 1n, formats: 1 }];

/** With a pod of version 5 that changed no sums. */
function heard() {
  const ledger = new UsageLedger();
  const usage = new UsageProgress(ledger);
  const progress = new ListProgress(new ChangeLog(), usage);
  ledger.pods.advance('5', 1);
  return { ledger, usage, progress };
}

describe('how far the list is', () => {
  test('it has seen the pods that it heard of, and no later ones', () => {
    const { progress } = heard();
    expect(['4', '5', '6'].map((newest) => progress.hasSeen(pods(newest)))).toEqual([true, true, false]);
  });

  test('it has not seen what one node does not show yet, but all that was shown before', () => {
    const { ledger, usage, progress } = heard();
    usage.counted({ names: new Map(), pods: { newest: '5', count: 1 } });
    ledger.pods.advance('6', 1);
    ledger.add('node-a', USAGE, '6');
    expect(['5', '6'].map((newest) => progress.hasSeen(pods(newest)))).toEqual([true, false]);
    const taken = { names: ledger.takeChanged(), pods: ledger.pods.state };
    usage.countAside(taken);
    expect(progress.hasSeen(pods('6'))).toBe(false);
    usage.counted(taken);
    expect(progress.hasSeen(pods('6'))).toBe(true);
  });

  test('without usage it has seen and knows no pods', () => {
    const progress = new ListProgress(new ChangeLog(), undefined);
    expect(['0', '1'].map((newest) => progress.hasSeen(pods(newest)))).toEqual([true, false]);
    expect(['0', '1'].map((newest) => progress.knowsAfter(pods(newest)))).toEqual([true, false]);
  });

  test('it has seen the pods that changed no sums since, when what was counted aside is shown or given up', () => {
    for (const end of ['counted', 'giveAsideUp'] as const) {
      const { ledger, usage, progress } = heard();
      const taken = { names: new Map(), pods: ledger.pods.state };
      usage.countAside(taken);
      ledger.pods.advance('6', 1);
      expect(progress.hasSeen(pods('6'))).toBe(false);
      usage[end](taken);
      expect(progress.hasSeen(pods('6'))).toBe(true);
    }
  });
});

describe('the nodes that changed after a state', () => {
  /** One node, the first change of the store, of version 3. */
  function oneNode() {
    const changes = new ChangeLog();
    const ledger = new UsageLedger();
    const usage = new UsageProgress(ledger);
    const progress = new ListProgress(changes, usage);
    const entry = toNodeEntry(makeNode('node-a', { resourceVersion: '3' }));
    changes.add(changes.prepare(entry, undefined, '3'), { version: 1, seen: progress.seen });
    const changedAfter = (node: string, pod: string): string[] =>
      progress
        .changedAfter({ objects: { newest: node, count: 1 }, added: { newest: pod, count: 1 } })
        .map(({ key }) => key);
    return { ledger, usage, progress, changedAfter };
  }

  test('are those that are newer, the first of all among them', () => {
    const { changedAfter } = oneNode();
    expect([changedAfter('2', '0'), changedAfter('3', '0')]).toEqual([['node-a'], []]);
  });

  test('are those whose sums are newer, until the node goes', () => {
    const { usage, progress, changedAfter } = oneNode();
    usage.changed('node-a', '6');
    expect([changedAfter('3', '5'), changedAfter('3', '6')]).toEqual([['node-a'], []]);
    progress.forget('node-a');
    expect(changedAfter('3', '5')).toEqual([]);
  });

  test.each([
    ['those it had', '6', '5', '4', '6'],
    ['those that were counted', '5', '6', '4', '6'],
    ['those that are to be counted', '5', '4', '6', '6'],
  ])('are those that got sums ahead of the others: the newest are %s', (_, had, counted, pending, newest) => {
    const { ledger, usage, changedAfter } = oneNode();
    usage.changed('node-a', had);
    usage.countAside({ names: new Map([['node-a', counted]]), pods: ledger.pods.state });
    ledger.add('node-a', USAGE, pending);
    usage.usedAhead('node-a');
    expect([changedAfter('3', `${Number(newest) - 1}`), changedAfter('3', newest)]).toEqual([['node-a'], []]);
  });

  test('are none of which no sums ever changed', () => {
    const { usage, changedAfter } = oneNode();
    usage.usedAhead('node-a');
    expect(changedAfter('3', '0')).toEqual([]);
  });
});
