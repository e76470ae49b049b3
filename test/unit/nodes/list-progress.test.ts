import { describe, expect, test } from 'vitest';
import { ChangeLog } from '../../../src/nodes/change-log.ts';
import { ListProgress } from '../../../src/nodes/list-progress.ts';
import { UsageLedger } from '../../../src/nodes/usage-ledger.ts';

const NO_NODES = { newest: '0', count: 0 };
const pods = (newest: string) => ({ nodes: NO_NODES, pods: { newest, count: 1 } });
const USAGE = [{ nano: 1n, formats: 1 }];

/** With a pod of version 5 that changed no sums. */
function heard() {
  const ledger = new UsageLedger();
  const progress = new ListProgress(new ChangeLog(), ledger);
  ledger.pods.advance('5', 1);
  return { ledger, progress };
}

describe('how far the list is', () => {
  test('it has seen the pods that it heard of, and no later ones', () => {
    const { progress } = heard();
    expect(['4', '5', '6'].map((newest) => progress.hasSeen(pods(newest)))).toEqual([true, true, false]);
  });

  test('it has not seen what one node does not show yet, but all that was shown before', () => {
    const { ledger, progress } = heard();
    progress.counted({ names: new Map(), pods: { newest: '5', count: 1 } });
    ledger.pods.advance('6', 1);
    ledger.add('node-a', USAGE, '6');
    expect(['5', '6'].map((newest) => progress.hasSeen(pods(newest)))).toEqual([true, false]);
    const taken = { names: ledger.takeChanged(), pods: ledger.pods.state };
    progress.countAside(taken);
    expect(progress.hasSeen(pods('6'))).toBe(false);
    progress.counted(taken);
    expect(progress.hasSeen(pods('6'))).toBe(true);
  });

  test('without usage it has seen and knows no pods', () => {
    const progress = new ListProgress(new ChangeLog(), undefined);
    expect(['0', '1'].map((newest) => progress.hasSeen(pods(newest)))).toEqual([true, false]);
    expect(['0', '1'].map((newest) => progress.knowsAfter(pods(newest)))).toEqual([true, false]);
  });
});
