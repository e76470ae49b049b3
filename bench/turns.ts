import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { Connection, requestBytes } from './load/connection.ts';
import { pageOf, seriesOf } from './load/metrics.ts';
import { type Simulation, startSimulated } from './peers/clusters.ts';
import { DEPLOYED_YOUNG_HEAP, type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import { type Coding, fetchList } from './peers/peer.ts';
import { LONGEST_TURN_MS, TURN_WATCH, type Turns } from './peers/turns.ts';
import { count, number, table, verdict } from './table.ts';

/** The longest turn of the event loop while a large cluster does this to the server. */
export interface TurnResults {
  readonly nodes: number;
  readonly pods: number;
  readonly steps: readonly (Turns & { readonly name: string })[];
}

const PODS_PER_NODE = 30;
const WATCHERS = 64;
/** Work that a step leaves for later still counts as the step's: deflating leaves, garbage. */
const SETTLE_MS = 2_000;
/** A page of metrics is work of the server, too: some ms. */
const POLL_MS = 250;
const STEP_TIMEOUT_MS = 300_000;

interface Stand {
  readonly cluster: Simulation;
  readonly gatehouse: Gatehouse;
}

/** Does each step once: the longest turn counts, and a cluster of this size takes a minute to fill. */
export async function measureTurns(bench: Bench): Promise<TurnResults[]> {
  const results: TurnResults[] = [];
  for (const nodes of bench.options.nodes) {
    const cluster = await startSimulated(nodes, PODS_PER_NODE);
    bench.note(`longest turns of the event loop, ${nodes} nodes and ${nodes * PODS_PER_NODE} pods`);
    const nodeArguments = [...TURN_WATCH, DEPLOYED_YOUNG_HEAP];
    const gatehouse = await startGatehouse(bench.children, { ...cluster, name: 'turns', nodeArguments });
    results.push({ nodes, pods: nodes * PODS_PER_NODE, steps: await stepsOf({ cluster, gatehouse }, bench) });
    await gatehouse.stop();
    await cluster.stop();
  }
  return results;
}

const STEPS: readonly (readonly [name: string, step: (stand: Stand) => Promise<unknown>])[] = [
  ['first sync of nodes and pods', async () => {}], // it has begun with the process
  ['first full list, identity', (stand) => list(stand, 'identity')],
  ['first full list, gzip', (stand) => list(stand, 'gzip')],
  ['pods listed again, nothing changed', (stand) => relist(stand, 'pods')],
  ['… one pod gone from each node, page of ten after it', usageOfAllNodes],
  ['nodes listed again, nothing changed', (stand) => relist(stand, 'nodes')],
  ['… all nodes changed, gzip list at once', (stand) => listAfterChange(stand, 'gzip')],
  ['… all nodes changed, identity list at once', (stand) => listAfterChange(stand, 'identity')],
  ['… all nodes gone and others come', allNodesReplaced],
  [`${WATCHERS} watchers with own selectors begin together`, (stand) => watchBySelectors(stand)],
  ['all nodes changed by events while they watch', (stand) => changeByEvents(stand)],
];

async function stepsOf(stand: Stand, { note }: Bench): Promise<TurnResults['steps']> {
  const steps: (Turns & { name: string })[] = [];
  for (const [name, step] of STEPS) {
    await step(stand);
    await sleep(SETTLE_MS);
    const turns = { name, ...(await stand.gatehouse.takeTurns()) };
    note(
      `${name}: ${turns.longestMs.toFixed(0)} ms, ${turns.longestCpuMs.toFixed(0)} ms of processor time (collections in that turn: ${turns.longestCpuGcMs.toFixed(0)} ms); ${turns.longestOwnMs.toFixed(0)} ms without collections`,
    );
    steps.push(turns);
  }
  return steps;
}

const list = ({ gatehouse }: Stand, coding: Coding): Promise<unknown> => fetchList(gatehouse, coding);

/** Ends their watch so that it cannot go on from its last version. The other kind's watch goes on. */
async function relist({ cluster, gatehouse }: Stand, kind: 'nodes' | 'pods', change = () => {}): Promise<void> {
  const series = `gatehouse_reflector_lists_total{resource="${kind}",result="ok"}`;
  const before = seriesOf(await pageOf(gatehouse), series);
  const isResumed = ({ query }: { query: URLSearchParams }): boolean => !query.has('sendInitialEvents');
  cluster.cluster.faults.next({ verb: 'watch', kind, when: isResumed }, { status: 410 });
  change();
  await cluster.cluster.restart();
  await until(async () => seriesOf(await pageOf(gatehouse), series) > before);
}

async function usageOfAllNodes(stand: Stand): Promise<void> {
  const { objects } = stand.cluster.cluster;
  const counted = new Map(
    objects.list('pods').map((pod) => [(pod['spec'] as { nodeName?: string }).nodeName ?? '', pod.metadata]),
  );
  await relist(stand, 'pods', () => {
    for (const { namespace, name } of counted.values()) objects.remove('pods', `${namespace}/${name}`);
  });
  const { target, listPath } = stand.gatehouse;
  const connection = await Connection.open(target);
  await connection.exchange(requestBytes(target, { path: `${listPath}?limit=10` }));
  connection.close();
}

async function listAfterChange(stand: Stand, coding: Coding): Promise<void> {
  await relist(stand, 'nodes', () => changeAllNodes(stand, coding));
  await list(stand, coding);
}

/** Under the same names, as the pods are on them. */
async function allNodesReplaced(stand: Stand): Promise<void> {
  const { objects } = stand.cluster.cluster;
  await relist(stand, 'nodes', () => {
    for (const { metadata, ...node } of objects.list('nodes')) {
      objects.remove('nodes', metadata.name);
      const { uid, resourceVersion, ...kept } = metadata;
      objects.create('nodes', { ...node, metadata: kept });
    }
  });
  await list(stand, 'gzip');
}

function changeAllNodes({ cluster }: Stand, value: string): void {
  const annotations = { 'bench.example.test/report': value };
  for (const name of cluster.nodeNames) cluster.cluster.objects.patch('nodes', name, { metadata: { annotations } });
}

async function changeByEvents(stand: Stand): Promise<void> {
  const { gatehouse, cluster } = stand;
  const series = 'gatehouse_reflector_watch_events_total{resource="nodes",type="MODIFIED"}';
  const before = seriesOf(await pageOf(gatehouse), series) || 0; // there is no series before its first event
  changeAllNodes(stand, 'events');
  await until(async () => seriesOf(await pageOf(gatehouse), series) >= before + cluster.nodeNames.length);
}

const watchBySelectors = ({ gatehouse, cluster }: Stand): Promise<void> =>
  openSelectorWatchers(gatehouse, cluster.nodeNames.slice(-WATCHERS));

async function until(condition: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + STEP_TIMEOUT_MS;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error('a step was not over in time');
    await sleep(POLL_MS);
  }
}

const BOOKMARK = '"BOOKMARK"';

/**
 * A watch of each of these nodes, by a selector of its own: all connections are open before the first request goes. Resolves when
 * each has had its first state; they stay open until the server ends.
 */
async function openSelectorWatchers({ target, listPath }: Gatehouse, names: readonly string[]): Promise<void> {
  const sockets = await Promise.all(names.map(() => connected(target.port)));
  await Promise.all(
    sockets.map((socket, at) => {
      const selector = encodeURIComponent(`kubernetes.io/hostname=${names[at]}`);
      return begun(socket, requestBytes(target, { path: `${listPath}?watch=1&labelSelector=${selector}` }));
    }),
  );
}

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(socket));
    socket.on('error', reject);
  });
}

function begun(socket: Socket, request: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (piece) => {
      text = (text + piece.toString('latin1')).slice(-64 * 1024);
      if (text.includes(BOOKMARK)) resolve();
    });
    socket.on('close', () => reject(new Error(`a watcher was closed: ${text}`)));
    socket.write(request);
  });
}

/** The longest turns as text: a table for each size, judged by processor time, and what its columns say. */
export const printTurns = (results: readonly TurnResults[]): string =>
  [...results.map(sizeTable), COLUMNS, ''].join('\n');

const COLUMNS = [
  'CPU: the longest turn by processor time; GC in it: the pauses of collections in that turn, by the clock. Each further column may be of another turn: the longest',
  'when such pauses are taken off, the longest by the clock, the longest pause. Marking and sweeping between pauses count as the code’s.',
].join('\n');

function sizeTable({ nodes, pods, steps }: TurnResults): string {
  const rows = steps.map(({ name, longestCpuMs, longestCpuGcMs, longestOwnMs, longestMs, longestGcMs, gcKind }) => [
    name,
    number(longestCpuMs),
    number(longestCpuGcMs),
    number(longestOwnMs),
    number(longestMs),
    `${gcKind} ${number(longestGcMs)}`.trim(),
    `≤ ${LONGEST_TURN_MS}`,
    verdict(longestCpuMs <= LONGEST_TURN_MS),
  ]);
  const title = `Longest turn of the event loop, ${count(nodes)} nodes of 12 kB and ${count(pods)} pods on the simulated API server`;
  const head = ['', 'CPU ms', 'GC in it', 'without GC', 'clock ms', 'longest GC ms', 'target', ''];
  return table(title, head, rows);
}
