import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nodeStatusWord } from '../../../src/nodes/node-kind.ts';
import { NodeSummary } from '../../../src/nodes/node-summary.ts';
import { formatQuantity, parseQuantity } from '../../../src/nodes/usage/quantity.ts';
import { atOnce } from '../../../src/runtime/time-slices.ts';
import { Largest } from '../../support/largest.ts';
import { checkSizes } from '../../support/property.ts';
import { LARGE, listOf, makeCache, makeNode, makePod, textOf } from '../resources/node-objects.ts';

const PLATFORM = 'gatehouse';

type Cache = ReturnType<typeof makeCache>;

const summaryOf = ({ nodes, lister, ledger }: Cache, usage = true) =>
  new NodeSummary({ store: nodes, lister, ledger: usage ? ledger : undefined });

/** The answer, which a clock that stands still makes at once. */
function answerOf(summary: NodeSummary) {
  const answer = summary.read();
  if (answer instanceof Promise) throw new Error('the answer took more than one slice');
  return answer;
}

const bodyOf = (summary: NodeSummary) => JSON.parse(textOf(answerOf(summary).body('identity').pieces));

type Texts = readonly (string | undefined)[];

/** The sum of these texts by the rule of docs/contract/nodes.md, section 6. */
function sumOf(resource: string, texts: Texts): string {
  const read = texts.map((text) => parseQuantity(text)).filter((one) => one !== undefined && one.nano !== 0n);
  const formats = [...new Set(read.map((one) => one?.format))];
  const usual = resource === 'memory' ? 'BinarySI' : 'DecimalSI';
  const nano = read.reduce((sum, one) => sum + (one?.nano ?? 0n), 0n);
  return formatQuantity(nano, (formats.length === 1 ? formats[0] : undefined) ?? usual);
}

/** The summary, computed from the answer of the list. */
function recomputed(cache: Cache, scheduled: number) {
  const { items } = listOf(cache.lister);
  const words = items.map((item) => nodeStatusWord(item as never));
  const countOf = (word: string) => words.filter((one) => one === word).length;
  const given = (resource: string): Texts =>
    items.map(
      ({ status }) => (status as { allocatable?: Record<string, string> } | undefined)?.allocatable?.[resource],
    );
  const used = (figure: string): Texts =>
    items.map(({ metadata }) => metadata.annotations[`node.${PLATFORM}.io/${figure}`]);
  const resource = (name: string) => ({
    allocatable: sumOf(name, given(name)),
    requests: sumOf(name, used(`${name}-requests`)),
    limits: sumOf(name, used(`${name}-limits`)),
  });
  return {
    nodes: {
      total: items.length,
      ...{ running: countOf('running'), warning: countOf('warning'), unschedulable: countOf('unschedulable') },
    },
    cpu: resource('cpu'),
    memory: resource('memory'),
    pods: { allocatable: sumOf('pods', given('pods')), scheduled },
  };
}

/** Two leaves of the list, so that most changes leave one of them as it is. */
const NODES = 40;
const PODS = 20;

const quantity = fc.constantFrom('0', '100m', '4', '1500u', '12Gi', '500M', '1e9', '0.1', '1000Ki', 'odd', undefined);
const amounts = fc.record({ cpu: quantity, memory: quantity });
const nodeNumber = fc.nat(NODES - 1);

const nodePut = fc
  .record({
    number: nodeNumber,
    allocatable: fc.record({ cpu: quantity, memory: quantity, pods: fc.constantFrom('110', '0', '1k', undefined) }),
    ready: fc.constantFrom('True', 'False', 'Unknown'),
    unschedulable: fc.boolean(),
  })
  .map(({ number, allocatable, ready, unschedulable }) => ({
    node: makeNode(`node-${number}`, LARGE, {
      spec: { unschedulable },
      status: { allocatable, conditions: [{ type: 'Ready', status: ready }] },
    }),
  }));

/** On a node that may not be in the list. */
const podState = fc
  .record({
    number: fc.nat(PODS - 1),
    node: nodeNumber,
    phase: fc.constantFrom('Running', 'Pending', 'Failed'),
    resources: fc.record({ requests: amounts, limits: amounts }),
  })
  .map(({ number, node, phase, resources }) => {
    const spec = { nodeName: `node-${node}`, containers: [{ resources }] };
    return makePod(spec, { phase, name: `pod-${number}`, uid: `${number}` });
  });

const step = fc.oneof(
  nodePut,
  nodeNumber.map((number) => ({ removedNode: `node-${number}` })),
  podState.map((pod) => ({ pod })),
  fc.nat(PODS - 1).map((number) => ({ removedPod: `default/pod-${number}` })),
  fc
    .uniqueArray(podState, { maxLength: PODS, size: 'max', selector: ({ metadata }) => metadata.name })
    .map((pods) => ({ pods })),
);

function apply(cache: Cache, change: typeof step extends fc.Arbitrary<infer Step> ? Step : never): void {
  const { pods } = cache;
  if ('node' in change) cache.putNode(change.node);
  else if ('removedNode' in change) cache.removeNode(change.removedNode);
  else if ('pod' in change) cache.putPod(change.pod);
  else if ('removedPod' in change) pods.remove(change.removedPod, '2');
  else {
    const listed = change.pods.map((pod) => pods.toEntry(pod));
    atOnce(pods.prepare(listed, { sameHistory: true, resourceVersion: '2' }))();
  }
}

describe('the summary of the nodes', () => {
  test('NT-01 NT-02 after any changes it is the sum of what the list shows', () => {
    const largest = new Largest('the summary', 'leaves');
    checkSizes(
      ({ upTo }) =>
        fc.property(fc.array(step, upTo(25)), (steps) => {
          const cache = makeCache();
          const summary = summaryOf(cache);
          for (let number = 0; number < NODES; number++) cache.putNode(makeNode(`node-${number}`, LARGE));
          for (const change of steps) {
            apply(cache, change);
            const scheduled = cache.pods.entries().filter(({ node }) => node !== '').length;
            expect(bodyOf(summary)).toEqual(recomputed(cache, scheduled));
            largest.see(cache.nodes.snapshot().leaves.length);
          }
        }),
      { cases: 60, short: 12 },
    );
    largest.expectAtLeast(2);
  });

  test('NT-01 has each amount in the form that all nodes have, or in the usual one', () => {
    const cache = makeCache();
    const summary = summaryOf(cache);
    const put = (name: string, allocatable: object) => cache.putNode(makeNode(name, {}, { status: { allocatable } }));
    put('node-a', { cpu: '4', memory: '1e9', pods: '110' });
    put('node-b', { cpu: '3920m', memory: '1e9', pods: '110' });
    const container = { resources: { requests: { cpu: '250m', memory: '1G' }, limits: { cpu: '1', memory: '1Gi' } } };
    cache.putPod(makePod({ containers: [container] }));
    const pods = { allocatable: '220', scheduled: 1 };
    expect(bodyOf(summary)).toEqual({
      nodes: { total: 2, running: 2, warning: 0, unschedulable: 0 },
      cpu: { allocatable: '7920m', requests: '250m', limits: '1' },
      memory: { allocatable: '2e9', requests: '1G', limits: '1Gi' },
      pods,
    });
    put('node-b', { cpu: '3920m', memory: '1048576k', pods: '1k' });
    expect(bodyOf(summary)).toMatchObject({ memory: { allocatable: '2048576000' } });
    cache.removeNode('node-b');
    expect(bodyOf(summary)).toMatchObject({ memory: { allocatable: '1e9' }, pods: { allocatable: '110' } });
  });

  test('NT-02 has zeros without nodes, and no usage where the nodes have none', () => {
    const nothing = { allocatable: '0', requests: '0', limits: '0' };
    expect(bodyOf(summaryOf(makeCache()))).toEqual({
      nodes: { total: 0, running: 0, warning: 0, unschedulable: 0 },
      ...{ cpu: nothing, memory: nothing, pods: { allocatable: '0', scheduled: 0 } },
    });
    const cache = makeCache({ usage: false });
    cache.putNode(makeNode('node-a', {}, { status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110' } } }));
    expect(bodyOf(summaryOf(cache, false))).toEqual({
      nodes: { total: 1, running: 1, warning: 0, unschedulable: 0 },
      ...{ cpu: { allocatable: '4' }, memory: { allocatable: '8Gi' }, pods: { allocatable: '110' } },
    });
  });

  test('NT-04 is made once for each state, and has a new tag only when it says something else', () => {
    const cache = makeCache();
    const summary = summaryOf(cache);
    const put = (beat: string, cpu = '4') =>
      cache.putNode(makeNode('node-a', { resourceVersion: beat }, { status: { beat, allocatable: { cpu } } }));
    put('1');
    const first = answerOf(summary);
    expect(answerOf(summary)).toBe(first);
    put('2');
    expect(answerOf(summary).etag('identity')).toBe(first.etag('identity'));
    put('3', '8');
    const other = answerOf(summary).etag('identity');
    expect(other).not.toBe(first.etag('identity'));
    cache.putPod(makePod({ containers: [] }));
    expect(answerOf(summary).etag('identity')).not.toBe(other);
  });
});
