import { describe, expect, test } from 'vitest';
import { listOf, makeCache, makeNode, makePod, parseNodeListQuery } from '../../resources/node-objects.ts';

type Members = Readonly<Record<string, unknown>>;

const amounts = (text: string): Members => {
  const [cpu, memory] = text.split('/');
  return { ...(cpu ? { cpu } : {}), ...(memory ? { memory } : {}) };
};

/** `cpu/memory` of requests and of limits; an empty text leaves a side out. */
const resources = (requests: string, limits = ''): Members => ({
  resources: {
    ...(requests ? { requests: amounts(requests) } : {}),
    ...(limits ? { limits: amounts(limits) } : {}),
  },
});

const pod = (...containers: readonly Members[]): Members => ({ containers });
const sidecar = (requests: string, limits: string): Members => ({
  restartPolicy: 'Always',
  ...resources(requests, limits),
});

/** The usage of node-a as `request/limit (request %/limit %)`, cpu and memory; allocatable is `cpu/memory`. */
function usageOf(pods: readonly Members[], allocatable = '4/12Gi'): { cpu: string; memory: string } {
  const { lister, putNode, putPod } = makeCache();
  putNode(makeNode('node-a', {}, { status: { allocatable: amounts(allocatable) } }));
  for (const { phase, ...spec } of pods) putPod(makePod(spec, { phase }));
  return shownUsage(listOf(lister).items[0]?.metadata.annotations ?? {});
}

function shownUsage(annotations: Readonly<Record<string, string>>): { cpu: string; memory: string } {
  const of = (figure: string) => annotations[`node.gatehouse.io/${figure}`];
  const row = (resource: string) =>
    `${of(`${resource}-requests`)}/${of(`${resource}-limits`)} ` +
    `(${of(`${resource}-requests-fraction`)}/${of(`${resource}-limits-fraction`)})`;
  return { cpu: row('cpu'), memory: row('memory') };
}

const sample = resources('250m/64Mi', '500m/128Mi');
const light = { ...pod(resources('100m/100Mi')), overhead: { cpu: '250m', memory: '120Mi' } };
const served = resources('500m/256Mi', '1/512Mi');
const proxy = sidecar('200m/128Mi', '400m/256Mi');
const setup = resources('1/64Mi', '2/1Gi');
const podLevel = { ...resources('1/1Gi', '2/2Gi'), ...pod(resources('250m/128Mi', '500m/256Mi')) };

describe('usage annotations', () => {
  test.each([
    ['NU-03', [pod(sample, sample)], '4/12Gi', '500m/1 (12%/25%)', '128Mi/256Mi (1%/2%)'],
    [
      ...[
        'NU-04',
        [{ ...pod(resources('100m/100Mi')), initContainers: [resources('1/1Gi', '2/2Gi'), resources('1500m/10Mi')] }],
      ],
      ...['4/12Gi', '1500m/2 (37%/50%)', '1Gi/2Gi (8%/16%)'],
    ],
    ['NU-05', [light], '4/12Gi', '350m/0 (8%/0%)', '220Mi/0 (1%/0%)'],
    [
      ...['NU-06', [{ ...light, ...pod(resources('100m/100Mi', '1/1Gi')) }]],
      ...['4/12Gi', '350m/1250m (8%/31%)', '220Mi/1144Mi (1%/9%)'],
    ],
    ['NU-07', [pod(resources('1999m/4095Mi', '9/17Gi'))], '2/4Gi', '1999m/9 (99%/450%)', '4095Mi/17Gi (99%/425%)'],
    [
      ...['NU-08', [pod(resources('0.1/500M', '1/1G')), pod(resources('0.1/500M', '1/1G'))]],
      ...['2/4Gi', '200m/2 (10%/100%)', '1G/2G (23%/46%)'],
    ],
    [
      ...['NU-09', [pod(resources('600/1000', '1000/1023')), pod(resources('400/24', '500/2'))]],
      ...['2000/1Gi', '1k/1500 (50%/75%)', '1024/1025 (0%/0%)'],
    ],
    ['NU-10', [pod(resources('100u', '1500u'))], '1/', '100u/1500u (0%/0%)', '0/0 (0%/0%)'],
    ['NU-11', [pod(resources('39m/122Mi', '40m/123Mi'))], '4/12Gi', '39m/40m (0%/1%)', '122Mi/123Mi (0%/1%)'],
    ['NU-12', [pod(resources('1000m/1024Mi', '2000m/2048Mi'))], '4/12Gi', '1/2 (25%/50%)', '1Gi/2Gi (8%/16%)'],
    [
      ...['NU-13', ['Pending', 'Failed', 'Unknown'].map((phase) => ({ phase, ...pod(resources('1/1Gi')) }))],
      ...['4/12Gi', '2/0 (50%/0%)', '2Gi/0 (16%/0%)'],
    ],
    ['NU-14', [{ phase: 'Succeeded', ...pod(resources('1/1Gi')) }], '4/12Gi', '0/0 (0%/0%)', '0/0 (0%/0%)'],
    [
      ...['NU-15', [pod(resources('1/1Gi', '2/2Gi')), pod(resources('1/1Gi', '2/2Gi'))]],
      ...['4/12Gi', '2/4 (50%/100%)', '2Gi/4Gi (16%/33%)'],
    ],
    ['NU-16', [pod(resources('/1024M')), pod(resources('/1Mi'))], '4/12Gi', '0/0 (0%/0%)', '1001024Ki/0 (7%/0%)'],
    ['NU-16', [pod(resources('/1Mi')), pod(resources('/1024M'))], '4/12Gi', '0/0 (0%/0%)', '1001024Ki/0 (7%/0%)'],
    ['NU-17', [pod(resources('290m', '570m'))], '1/', '290m/570m (28%/56%)', '0/0 (0%/0%)'],
    [
      ...['NU-18', [{ ...pod(served), initContainers: [proxy] }]],
      ...['4/12Gi', '700m/1400m (17%/35%)', '384Mi/768Mi (3%/6%)'],
    ],
    [
      ...['NU-19', [{ ...pod(served), initContainers: [proxy, setup] }]],
      ...['4/12Gi', '1200m/2400m (30%/60%)', '384Mi/1280Mi (3%/10%)'],
    ],
    [
      ...['NU-20', [{ ...pod(served), initContainers: [setup, proxy] }]],
      ...['4/12Gi', '1/2 (25%/50%)', '384Mi/1Gi (3%/8%)'],
    ],
    ['NU-21', [podLevel], '4/12Gi', '1/2 (25%/50%)', '1Gi/2Gi (8%/16%)'],
    ['NU-22', [{ ...podLevel, ...resources('1', '2') }], '4/12Gi', '1/2 (25%/50%)', '128Mi/256Mi (1%/2%)'],
    [
      ...['NU-23', [{ ...podLevel, overhead: { cpu: '250m', memory: '120Mi' } }]],
      ...['4/12Gi', '1250m/2250m (31%/56%)', '1144Mi/2168Mi (9%/17%)'],
    ],
    ['NU-24', [pod(resources('1/1Gi', '2/2Gi'))], '', '1/2 (0%/0%)', '1Gi/2Gi (0%/0%)'],
  ] as [string, Members[], string, string, string][])('%s %# sums and fractions', (...row) => {
    const [, pods, allocatable, cpu, memory] = row;
    expect(usageOf(pods, allocatable)).toEqual({ cpu, memory });
  });

  test.each([
    ['1e9', '1e9', '2e9'],
    ['500Ki', '524Ki', '1Mi'],
    ['1Mi', '1m', '1048576001m'],
    ['2Ti', '1Gi', '2049Gi'],
  ])('NU-25 memory %s and %s is %s', (first, second, sum) => {
    const pods = [pod(resources(`/${first}`)), pod(resources(`/${second}`))];
    expect(usageOf(pods).memory.split('/')[0]).toBe(sum);
    expect(usageOf(pods.reverse()).memory.split('/')[0]).toBe(sum);
    expect(usageOf([pod(resources(`/${first}`), resources(`/${second}`))]).memory.split('/')[0]).toBe(sum);
  });

  test('NU-01 without any pod all nine are there', () => {
    const { lister, putNode } = makeCache();
    putNode(makeNode('node-a', {}, { status: { allocatable: { cpu: '4', memory: '12Gi' } } }));
    expect(listOf(lister).items[0]?.metadata.annotations).toEqual({
      'node.gatehouse.io/cpu-limits': '0',
      'node.gatehouse.io/cpu-limits-fraction': '0%',
      'node.gatehouse.io/cpu-requests': '0',
      'node.gatehouse.io/cpu-requests-fraction': '0%',
      'node.gatehouse.io/memory-limits': '0',
      'node.gatehouse.io/memory-limits-fraction': '0%',
      'node.gatehouse.io/memory-requests': '0',
      'node.gatehouse.io/memory-requests-fraction': '0%',
      'node.gatehouse.io/pods': '0',
    });
  });

  test('NU-27 the pods that count are counted, those that request nothing included', () => {
    const { lister, putNode, putPod, pods } = makeCache();
    putNode(makeNode('node-a'));
    const counted = (): unknown => listOf(lister).items[0]?.metadata.annotations['node.gatehouse.io/pods'];
    const tag = (): string => lister.list(parseNodeListQuery('')).etag('identity');
    const idle = makePod(pod());
    putPod(idle);
    putPod(makePod(pod(sample)));
    putPod(makePod(pod(sample), { phase: 'Succeeded' }));
    expect(counted()).toBe('2');
    const before = tag();
    pods.remove(`default/${idle.metadata.name}`, '2');
    expect(counted()).toBe('1');
    expect(tag()).not.toBe(before);
  });

  test('NU-02 pods of other nodes do not count', () => {
    expect(usageOf([{ ...pod(sample), nodeName: 'node-b' }])).toEqual({ cpu: '0/0 (0%/0%)', memory: '0/0 (0%/0%)' });
  });

  test('mixed formats of cpu are written as DecimalSI', () => {
    expect(usageOf([pod(resources('1Ki')), pod(resources('1e3'))], '').cpu).toBe('2024/0 (0%/0%)');
  });

  test('a tie between containers and an init container keeps the format of the containers', () => {
    const tied = { ...pod(resources('/1Gi')), initContainers: [resources('/1073741824')] };
    expect(usageOf([tied]).memory).toBe('1Gi/0 (8%/0%)');
  });

  test('a zero operand has no format', () => {
    expect(usageOf([pod(resources('/0')), pod(resources('/2Gi'))]).memory).toBe('2Gi/0 (16%/0%)');
  });

  test('an unscheduled pod counts nowhere', () => {
    expect(usageOf([{ ...pod(sample), nodeName: undefined }]).cpu).toBe('0/0 (0%/0%)');
  });

  test('without usage nothing is added', () => {
    const { lister, putNode } = makeCache({ usage: false });
    putNode(makeNode('node-a', { annotations: { 'node.gatehouse.io/cpu-limits': 'x' } }));
    putNode(makeNode('node-b', { annotations: null }));
    putNode(makeNode('node-c'));
    expect(listOf(lister).items.map((item) => item.metadata.annotations)).toEqual([
      undefined,
      null,
      { 'node.gatehouse.io/cpu-limits': 'x' },
    ]);
  });
});

describe('odd amounts', () => {
  test.each([
    [pod(resources('lots/1Gi')), '0/0 (0%/0%)', '1Gi/0 (8%/0%)'],
    [{ containers: 'none', initContainers: [null, 1], overhead: [] }, '0/0 (0%/0%)', '0/0 (0%/0%)'],
    [{ containers: [{ resources: { requests: { cpu: 1, memory: null } } }] }, '1/0 (25%/0%)', '0/0 (0%/0%)'],
  ])('an unreadable amount of a pod counts as zero: %j', (spec, cpu, memory) => {
    expect(usageOf([spec])).toEqual({ cpu, memory });
  });

  test.each([
    // Of 1500 micro-cores, 2 milli-cores are whole; of 500 milli-bytes, one byte.
    ['1m/', '1500u/', '1m/0 (50%/0%)', '0/0 (0%/0%)'],
    ['/1', '/500m', '0/0 (0%/0%)', '1/0 (100%/0%)'],
    ['1500u/', '4m/', '1500u/0 (50%/0%)', '0/0 (0%/0%)'],
    ['1500u/1500m', '1500u/1500m', '1500u/0 (100%/0%)', '1500m/0 (100%/0%)'],
    ['1n/', '1n/', '1n/0 (100%/0%)', '0/0 (0%/0%)'],
    // Doubles would be exact for milli-bytes, and are not: the whole byte is the unit.
    ['/1400m', '/1', '0/0 (0%/0%)', '1400m/0 (200%/0%)'],
  ])('fractions are of whole milli-cores and bytes, rounded up: %s of %s', (requests, allocatable, cpu, memory) => {
    expect(usageOf([pod(resources(requests))], allocatable)).toEqual({ cpu, memory });
  });

  test('an unreadable allocatable amount gives 0%', () => {
    expect(usageOf([pod(sample)], 'lots/1.Gi.')).toEqual({ cpu: '250m/500m (0%/0%)', memory: '64Mi/128Mi (0%/0%)' });
  });

  test('the greatest amounts are summed exactly', () => {
    const most = pod(resources('/8Ei'));
    expect(usageOf([most, most], '/1').memory).toBe('18446744073709551614/0 (1844674407370955161600%/0%)');
  });
});
