import { describe, expect, test, vi } from 'vitest';
import { KeyTable } from '../../../../src/kubernetes/reflector/key-table.ts';
import { type PodEntry, PodStore, podFieldSelector } from '../../../../src/nodes/usage/pod-store.ts';
import { UsageLedger } from '../../../../src/nodes/usage/usage-ledger.ts';
import { atOnce } from '../../../../src/runtime/time-slices.ts';
import { replaceAll } from '../../../support/replace-all.ts';
import { makePod } from '../../resources/node-objects.ts';

const SPEC = { containers: [{ resources: { requests: { cpu: '1', memory: '1Gi' } } }] };

describe('pod store', () => {
  test('asks the cluster for scheduled, unfinished pods only', () => {
    expect(podFieldSelector()).toBe('spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed');
  });

  test('keeps nothing of a pod but its identity, node and amounts', () => {
    const store = new PodStore(new UsageLedger());
    const entry = store.toEntry(makePod(SPEC, { name: 'p', uid: 'u', resourceVersion: '7', labels: { a: 'b' } }));
    expect(entry).toEqual({
      key: 'default/p',
      uid: 'u',
      resourceVersion: '7',
      node: 'node-a',
      usage: [
        { nano: 0n, formats: 0 },
        { nano: 10n ** 9n, formats: 2 },
        { nano: 0n, formats: 0 },
        { nano: 2n ** 30n * 10n ** 9n, formats: 1 },
      ],
      list: 0,
    });
    store.put(entry);
    expect(store.get('default/p')).toBe(entry);
    expect([...store.entries()]).toEqual([entry]);
    expect(store.size).toBe(1);
  });

  test.each([
    ['unscheduled', { ...SPEC, nodeName: '' }, 'Pending'],
    ['finished', { ...SPEC, nodeName: 'node-a' }, 'Succeeded'],
  ])('keeps neither node nor amounts of a pod that is %s', (_, spec, phase) => {
    const { node, usage } = new PodStore(new UsageLedger()).toEntry({ ...makePod(spec), status: { phase } });
    expect([node, usage]).toEqual(['', []]);
  });

  test('pods of equal amounts share one record of them', () => {
    const store = new PodStore(new UsageLedger());
    expect(store.toEntry(makePod(SPEC)).usage).toBe(store.toEntry(makePod(SPEC)).usage);
  });

  test('remembers 20,000 different amounts, and begins anew with one more', () => {
    const store = new PodStore(new UsageLedger());
    const usageOf = (memory: number) =>
      store.toEntry(makePod({ containers: [{ resources: { requests: { memory } } }] })).usage;
    const first = usageOf(1);
    for (let memory = 2; memory <= 20_000; memory++) usageOf(memory);
    expect(usageOf(1)).toBe(first);
    usageOf(20_001);
    expect(usageOf(1)).not.toBe(first);
  });

  test('a change that leaves the amounts as they are touches no node', () => {
    const ledger = new UsageLedger();
    const store = new PodStore(ledger);
    store.put(store.toEntry(makePod(SPEC, { name: 'p', resourceVersion: '1' })));
    ledger.takeChanged();
    store.put(store.toEntry(makePod(SPEC, { name: 'p', resourceVersion: '2' })));
    const listed = [store.toEntry(makePod(SPEC, { name: 'p', resourceVersion: '3' }))];
    replaceAll(store, listed, { sameHistory: true, resourceVersion: '3' });
    expect([...ledger.takeChanged()]).toEqual([]);
    expect(store.get('default/p')?.resourceVersion).toBe('3');
  });

  test('removing an unknown pod changes nothing', () => {
    const ledger = new UsageLedger();
    new PodStore(ledger).remove('default/none', '2');
    expect([...ledger.takeChanged()]).toEqual([]);
  });

  test.each([
    [{ name: '' }, 'metadata.name is missing or not text'],
    [{ uid: undefined }, 'metadata.uid is missing or not text'],
    [{ resourceVersion: 5 }, 'metadata.resourceVersion is missing or not text'],
  ])('throws for metadata %j', (metadata, message) => {
    expect(() => new PodStore(new UsageLedger()).toEntry(makePod(SPEC, metadata))).toThrow(message);
  });

  test('counts a pod that a list names twice once, as it was named last', () => {
    const ledger = new UsageLedger();
    const store = new PodStore(ledger);
    const named = (cpu: string) =>
      store.toEntry(
        makePod({ containers: [{ resources: { requests: { cpu } } }] }, { name: 'p', resourceVersion: cpu }),
      );
    for (const times of [1, 2]) {
      replaceAll(store, [named('3'), named('5')]);
      expect([times, store.size, ledger.of('node-a')?.sums[1]?.nano]).toEqual([times, 1, 5n * 10n ** 9n]);
    }
    replaceAll(store, []);
    expect([store.size, ledger.of('node-a')]).toEqual([0, undefined]);
  });

  test('keeps its own record of a pod that a list names as it is', () => {
    const store = new PodStore(new UsageLedger());
    const named = (version: string) => store.toEntry(makePod(SPEC, { name: 'p', uid: 'u', resourceVersion: version }));
    const [first, same, other] = [named('1'), named('1'), named('2')];
    for (const [listed, kept] of [
      [first, first],
      [same, first],
      [other, other],
    ] as const) {
      replaceAll(store, [listed], { sameHistory: true, resourceVersion: '9' });
      expect(store.get('default/p')).toBe(kept);
    }
  });

  test('looks at 32 pods a step: at those of the list, at those that it has and at those that went', () => {
    const store = new PodStore(new UsageLedger());
    const listed = Array.from({ length: 97 }, (_, at) => store.toEntry(makePod(SPEC, { name: `p-${at}` })));
    const stepsFor = (entries: typeof listed): number => {
      const steps = store.prepare(entries, { sameHistory: true, resourceVersion: '9' });
      for (let count = 0; ; count++) {
        const step = steps.next();
        if (!step.done) continue;
        step.value();
        return count;
      }
    };
    expect([stepsFor(listed), stepsFor(listed), stepsFor([])]).toEqual([4, 4 + 3, 3 + 4]);
  });

  test.each([
    ['10,000 changes into the map where it is', 10_000, 10_000],
    ['more into a map that was made before, in steps', 10_001, 0],
  ])('puts %s', (_, count, putAtOnce) => {
    const store = new PodStore(new UsageLedger());
    const pod = store.toEntry(makePod(SPEC));
    const listed = Array.from({ length: count }, (_entry, at) => ({ ...pod, key: `p-${at}` }));
    const show = atOnce(store.prepare(listed, { sameHistory: true, resourceVersion: '9' }));
    const set = vi.spyOn(KeyTable.prototype, 'set');
    show();
    expect(set).toHaveBeenCalledTimes(putAtOnce);
    set.mockRestore();
    expect(store.size).toBe(count);
  });

  test('takes more changes than go into the map where it is, and fewer, to the same end', () => {
    const ledger = new UsageLedger();
    const store = new PodStore(ledger);
    const spec = { containers: [{ resources: { requests: { cpu: '1' } } }] };
    const pods = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => store.toEntry(makePod(spec, { name: `p-${from + index}` })));
    for (const [from, to] of [
      [0, 10_001],
      [100, 10_001],
      [0, 10_100],
      [10_099, 20_200],
    ] as const) {
      replaceAll(store, pods(from, to));
      expect([store.size, store.get(`default/p-${from}`)?.key]).toEqual([to - from, `default/p-${from}`]);
      expect(ledger.of('node-a')?.sums[1]?.nano).toBe(BigInt(to - from) * 10n ** 9n);
    }
  });

  test.each([
    ['changes', (pods: readonly PodEntry[]) => pods.map((pod) => ({ ...pod, resourceVersion: '2' }))],
    ['takes away', () => []],
  ])(
    'looks at few pods in each step of a list that %s more than go into the map in one turn, in not many more steps',
    (_, next) => {
      const store = new PodStore(new UsageLedger());
      let looks = 0;
      const watched = (pod: PodEntry): PodEntry => ({
        ...pod,
        get key() {
          looks++;
          return pod.key;
        },
      });
      const pods = Array.from({ length: 10_010 }, (_, index) => store.toEntry(makePod(SPEC, { name: `p-${index}` })));
      replaceAll(store, pods.map(watched));
      const steps = store.prepare(next(pods).map(watched), { sameHistory: true, resourceVersion: '9' });
      let most = 0;
      const looksOf = <Result>(work: () => Result): Result => {
        looks = 0;
        const result = work();
        most = Math.max(most, looks);
        return result;
      };
      let count = 1;
      let step = looksOf(() => steps.next());
      for (; !step.done; count++) step = looksOf(() => steps.next());
      looksOf(step.value);
      expect(store.size).toBe(next(pods).length);
      expect(most).toBeLessThan(500);
      expect(count).toBeLessThan(pods.length / 4);
    },
  );
});
