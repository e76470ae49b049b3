import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../../src/kubernetes/object.ts';
import { PodStore } from '../../../../src/nodes/usage/pod-store.ts';
import { usageMembers } from '../../../../src/nodes/usage/usage-decoration.ts';
import { UsageLedger } from '../../../../src/nodes/usage/usage-ledger.ts';
import { Largest } from '../../../support/largest.ts';
import { checkSizes, type Sizes } from '../../../support/property.ts';
import { replaceAll } from '../../../support/replace-all.ts';
import { listOf, makeCache, makeNode } from '../../resources/node-objects.ts';

const NODES = ['node-a', 'node-b'];
const quantity = fc.constantFrom('0', '100m', '1', '1500u', '1Gi', '500M', '1e9', '0.1', '1Ki', '3n', undefined);
const container = fc.record({
  restartPolicy: fc.constantFrom('Always', undefined),
  resources: fc.record({
    requests: fc.record({ cpu: quantity, memory: quantity }),
    limits: fc.record({ cpu: quantity, memory: quantity }),
  }),
});

const PODS = 40;

/** A pod of that number in some state. */
const podStateOf = (numbers: fc.Arbitrary<number>) =>
  fc
    .record({
      number: numbers,
      spec: fc.record({
        nodeName: fc.constantFrom(...NODES),
        containers: fc.array(container, { maxLength: 3, size: 'max' }),
        initContainers: fc.array(container, { maxLength: 3, size: 'max' }),
        overhead: fc.record({ cpu: quantity, memory: quantity }),
      }),
      phase: fc.constantFrom('Pending', 'Running', 'Failed', 'Succeeded'),
    })
    .map(
      ({ number, spec, phase }): KubernetesObject => ({
        metadata: { name: `pod-${number}`, namespace: 'default', uid: `${number}`, resourceVersion: '1' },
        spec,
        status: { phase },
      }),
    );

const anyNumber = fc.nat(PODS - 1);
const podState = podStateOf(anyNumber);
const allPods = fc.tuple(...Array.from({ length: PODS }, (_, number) => podStateOf(fc.constant(number))));

const step = fc.oneof(
  podState.map((pod) => ({ put: pod })),
  anyNumber.map((number) => ({ remove: `default/pod-${number}` })),
  fc.array(podState, { maxLength: 30, size: 'max' }).map((pods) => ({ replace: pods })),
);

/** The largest cases end with a list of every pod. */
const stepsOf = ({ upTo, isLargest }: Sizes) => {
  const steps = fc.array(step, upTo(60));
  const listed = allPods.map((pods) => ({ replace: pods }));
  return isLargest ? fc.tuple(steps, listed).map(([before, last]) => [...before, last]) : steps;
};

const ALLOCATABLE = {
  cpu: { nano: 4n * 10n ** 9n, formats: 0 },
  memory: { nano: 12n * 2n ** 30n * 10n ** 9n, formats: 0 },
};
const shown = (ledger: UsageLedger) => NODES.map((node) => usageMembers('gatehouse', ledger.of(node), ALLOCATABLE));

function recomputed(pods: PodStore): UsageLedger {
  const ledger = new UsageLedger();
  const fresh = new PodStore(ledger);
  for (const entry of [...pods.entries()].reverse()) fresh.put(entry);
  return ledger;
}

describe('usage ledger', () => {
  test('NU-26 after any sequence the sums are those of the pods that are left', () => {
    const largest = new Largest('the usage ledger', 'pods');
    checkSizes((sizes) =>
      fc.property(stepsOf(sizes), (steps) => {
        const ledger = new UsageLedger();
        const pods = new PodStore(ledger);
        for (const change of steps) {
          if ('put' in change) pods.put(pods.toEntry(change.put));
          else if ('remove' in change) pods.remove(change.remove, '2');
          else {
            const listed = distinct(change.replace).map((pod) => pods.toEntry(pod));
            replaceAll(pods, listed, { sameHistory: true, resourceVersion: '2' });
          }
        }
        expect(shown(ledger)).toEqual(shown(recomputed(pods)));
        expect(ledger.podCount).toBe(pods.entries().filter(({ node }) => node !== '').length);
        largest.see(pods.size);
      }),
    );
    largest.expectAtLeast(PODS);
  });

  test('NU-26 the answer follows the ledger through every change', () => {
    const largest = new Largest('the answer with its usage', 'pods');
    checkSizes(
      ({ upTo, isLargest }) =>
        fc.property(isLargest ? allPods : fc.array(podState, upTo(PODS)), (states) => {
          const { lister, putNode, putPod, pods } = makeCache();
          putNode(makeNode('node-a', {}, { status: { allocatable: { cpu: '4', memory: '12Gi' } } }));
          for (const state of states) {
            putPod(state);
            const { annotations } = listOf(lister).items[0]?.metadata ?? {};
            expect(annotations).toEqual(JSON.parse(`{${shown(recomputed(pods))[0]}}`));
          }
          largest.see(pods.size);
        }),
      { cases: 50, short: 15 },
    );
    largest.expectAtLeast(PODS);
  });

  test('the sums of a node changed with the newest of their changes, in whatever order a list names them', () => {
    const ledger = new UsageLedger();
    const draft = ledger.draft();
    const usage = [{ nano: 1n, formats: 1 }];
    for (const version of ['9', '10', '8']) {
      ledger.add('node-a', usage, version);
      draft.add('node-b', usage, version);
    }
    draft.subtract('node-b', usage, '7');
    expect([ledger.changedAt('node-a'), ledger.changedAt('node-b'), ledger.changedCount]).toEqual(['10', undefined, 1]);
    ledger.take(draft);
    expect([ledger.changedAt('node-b'), ledger.changedCount]).toEqual(['10', 2]);
    ledger.giveBack(new Map([['node-a', '11']]));
    expect(ledger.changedAt('node-a')).toBe('11');
  });

  test('a node whose pods are all gone is forgotten', () => {
    const ledger = new UsageLedger();
    ledger.add('node-a', [{ nano: 1n, formats: 1 }], '1');
    expect(ledger.of('node-a')).toBeDefined();
    ledger.subtract('node-a', [{ nano: 1n, formats: 1 }], '2');
    expect(ledger.of('node-a')).toBeUndefined();
    expect([...ledger.takeChanged()]).toEqual([['node-a', '2']]);
    expect([...ledger.takeChanged()]).toEqual([]);
  });
});

/** A list names no pod twice. */
const distinct = (pods: readonly KubernetesObject[]) => [
  ...new Map(pods.map((pod) => [pod.metadata.name, pod])).values(),
];
