import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { measurePaced, type PacedCell, pacedTable } from './gateway-paced.ts';
import { type EventTimes, openIdleWatches, timeEvents } from './load/event-watches.ts';
import { startGenerator } from './load/generator.ts';
import type { LoadReport } from './load/load.ts';
import { memoryOf } from './load/usage.ts';
import { startBareProxy } from './peers/bare-proxy.ts';
import { makeNodes, startReal, withNodes } from './peers/clusters.ts';
import { type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import {
  type GatewayPeer,
  makeProxyCertificate,
  PROXY_USER,
  startKubectlProxy,
  startRbacProxy,
} from './peers/gateways.ts';
import { median, quantile } from './statistics.ts';
import { count, number, percent, table, verdict } from './table.ts';

/** Calls to a real kube-apiserver, directly and through several proxies. */
export interface GatewayResults {
  readonly cells: readonly Cell[];
  readonly paced: readonly PacedCell[];
  readonly watches: { readonly open: number; readonly bytesEach: number; readonly times: EventTimes };
  /** The node list from Gatehouse's memory, alone and while its gateway has as many calls as it can take. */
  readonly beside: readonly { readonly alone: LoadReport; readonly busy: LoadReport }[];
}

interface Cell {
  readonly peer: string;
  readonly what: string;
  /** Each round with 8 connections, and with one. */
  readonly rounds: readonly { readonly many: LoadReport; readonly one: LoadReport }[];
}

const DIRECT = 'kube-apiserver';
const OURS = 'Gatehouse';
/** The proxies that others run in front of a cluster. */
const PROXIES: readonly string[] = ['kubectl proxy', 'kube-rbac-proxy'];
const NODES = 1_000;
const OBJECT_BYTES = 10_000;
const COLLECTION = '/api/v1/namespaces/default/configmaps';
const OBJECT = `${COLLECTION}/bench`;
const PATHS = { 'an object of 10 kB': OBJECT, 'a list of 1,000 nodes': '/api/v1/nodes' } as const;
const ASKED = { accept: 'application/json', 'accept-encoding': 'identity' };
const MANY = 8;
const WATCHES = 1_000;
const EVENTS = 200;
const SETTLE_MS = 2_000;
/** By this time the other callers begin before the measurement and end after it. */
const FLOOD_MORE_SECONDS = 2;

/** Targets: requests per second, compared with the better of the two proxies; and the latency added to that of the API server. */
const LEAST_RATE = 1;
const MORE_P50_MS = 0.5;
const MORE_EVENT_P99_MS = 5;
const LEAST_BESIDE = 0.6;

const SETTINGS = {
  gateway: { enabled: true },
  limits: { maxGatewayStreams: 2_000, maxGatewayStreamsPerUser: 2_000, maxConnectionsPerAddress: 10_000 },
};

export async function measureGateway(bench: Bench): Promise<GatewayResults> {
  const { children, note, withoutReal } = bench;
  if (withoutReal !== undefined)
    throw new Error(`the gateway is measured beside a real kube-apiserver: ${withoutReal}`);
  note('starting the real kube-apiserver');
  const certificate = await makeProxyCertificate(children.folder);
  const control = await startReal([`--client-ca-file=${certificate.cert}`]);
  const bind = ['clusterrolebinding', 'bench-proxy', '--clusterrole=cluster-admin', `--user=${PROXY_USER}`];
  await control.kubectl(['create', ...bind]);
  const cluster = await withNodes(control, makeNodes(NODES), 0);
  await control.kubectl(['create', 'configmap', 'bench', `--from-literal=a=${'x'.repeat(OBJECT_BYTES)}`]);
  const gatehouse = await startGatehouse(children, { ...cluster, name: 'gateway', settings: SETTINGS });
  const { apiServerPid: pid } = control;
  const direct: GatewayPeer = { name: DIRECT, target: cluster.target, ...(pid && { pid }), stop: async () => {} };
  const [kubectl, rbac] = [
    await startKubectlProxy(children, control),
    await startRbacProxy(children, control, certificate),
  ];
  const bare = await startBareProxy(children, cluster.target);
  const cells = await compare(bench, [direct, gatehouse, kubectl, rbac, bare]);
  const paced = await measurePaced(bench, [direct, kubectl, gatehouse], { path: OBJECT, headers: ASKED });
  for (const proxy of [kubectl, rbac, bare]) await proxy.stop();
  const watches = await measureWatches(bench, direct, gatehouse);
  const beside = await measureBeside(bench, gatehouse);
  await gatehouse.stop();
  await control.stop();
  return { cells, paced, watches, beside };
}

/** Measures the peers alternately, so that other work of the machine affects all of them alike. */
async function compare(bench: Bench, peers: readonly GatewayPeer[]): Promise<Cell[]> {
  const { note, options } = bench;
  const cells = Object.keys(PATHS).flatMap((what) =>
    peers.map(({ name }) => ({ peer: name, what, rounds: [] as { many: LoadReport; one: LoadReport }[] })),
  );
  for (let round = 1; round <= options.rounds; round++)
    for (const [what, path] of Object.entries(PATHS))
      for (const peer of peers) {
        const many = await loadOf(bench, peer, path, MANY);
        const one = await loadOf(bench, peer, path, 1);
        note(
          `round ${round}, ${what}, ${peer.name}: ${number(many.requestsPerSecond)}/s, p50 alone ${number(one.p50Ms)} ms`,
        );
        cells.find((cell) => cell.peer === peer.name && cell.what === what)?.rounds.push({ many, one });
      }
  return cells;
}

const loadOf = ({ generator, options }: Bench, { target, pid }: GatewayPeer, path: string, connections: number) =>
  generator.load({
    target,
    path,
    headers: ASKED,
    connections,
    warmUpMs: 1_000,
    measureMs: options.seconds * 1_000,
    maxRequests: 1_000_000,
    ...(pid === undefined ? {} : { serverPid: pid }),
  });

/** Measures a thousand idle watches, and how much later an event comes through us than directly. */
async function measureWatches({ note }: Bench, direct: GatewayPeer, gatehouse: Gatehouse) {
  note(`${WATCHES} watches through the gateway`);
  const before = (await memoryOf(gatehouse)).now ?? Number.NaN;
  const close = await openIdleWatches(gatehouse.target, '/api/v1/namespaces/kube-system/configmaps', WATCHES);
  await sleep(SETTLE_MS);
  const after = (await memoryOf(gatehouse)).now ?? Number.NaN;
  const ways = { straight: direct.target, through: gatehouse.target };
  const times = await timeEvents({ ...ways, object: OBJECT, collection: COLLECTION, events: EVENTS });
  close();
  return { open: WATCHES, bytesEach: (after - before) / WATCHES, times };
}

/** Measures a page of the node list, alone and while other connections send calls as fast as the gateway answers. */
async function measureBeside(bench: Bench, gatehouse: Gatehouse) {
  const { children, options, note } = bench;
  const others = startGenerator(children);
  const page = `${gatehouse.listPath}?limit=10`;
  const rounds = [];
  for (let round = 1; round <= options.rounds; round++) {
    const alone = await loadOf(bench, gatehouse, page, MANY);
    const seconds = options.seconds + FLOOD_MORE_SECONDS;
    const flood = loadOf({ ...bench, generator: others, options: { ...options, seconds } }, gatehouse, OBJECT, MANY);
    const busy = await loadOf(bench, gatehouse, page, MANY);
    const { requestsPerSecond } = await flood;
    const share = percent(busy.requestsPerSecond / alone.requestsPerSecond);
    note(`round ${round}, the node list beside ${number(requestsPerSecond)} calls/s through the gateway: ${share}`);
    rounds.push({ alone, busy });
  }
  return rounds;
}

/** The results of the gateway as text. */
export function printGateway(results: GatewayResults): string {
  const { cells, paced, watches, beside } = results;
  return [
    ...Object.keys(PATHS).map((what) =>
      callTable(
        what,
        cells.filter((cell) => cell.what === what),
      ),
    ),
    pacedTable(paced, { direct: DIRECT, ours: OURS }),
    watchTable(watches),
    besideTable(beside),
    '',
  ].join('\n');
}

const cpuMsPerCall = ({ serverShare = Number.NaN, requestsPerSecond }: LoadReport): number =>
  (serverShare / requestsPerSecond) * 1e3;
const rateOf = ({ rounds }: Cell): number => median(rounds.map(({ many }) => many.requestsPerSecond));
const alonePairOf = (cell: Cell, direct: Cell): number =>
  median(cell.rounds.map(({ one }, round) => one.p50Ms - (direct.rounds[round]?.one.p50Ms ?? Number.NaN)));

function callTable(what: string, cells: readonly Cell[]): string {
  const direct = cells.find(({ peer }) => peer === DIRECT) as Cell;
  const best = Math.max(...cells.filter(({ peer }) => PROXIES.includes(peer)).map(rateOf));
  const rows = cells.map((cell) => {
    const isOurs = cell.peer === OURS;
    const [rate, more] = [rateOf(cell), alonePairOf(cell, direct)];
    return [
      cell.peer,
      number(rate),
      number(median(cell.rounds.map(({ many }) => many.p99Ms))),
      number(median(cell.rounds.map(({ one }) => one.p50Ms))),
      number(more),
      percent(median(cell.rounds.map(({ many }) => many.serverShare ?? Number.NaN))),
      number(median(cell.rounds.map(({ many }) => cpuMsPerCall(many)))),
      isOurs ? `${number(rate / best)} of the better proxy, ≥ ${LEAST_RATE}; ≤ ${MORE_P50_MS} ms more` : '',
      isOurs ? verdict(rate / best >= LEAST_RATE && more <= MORE_P50_MS) : '',
    ];
  });
  const head = [
    '',
    'requests/s',
    'p99 ms',
    'p50 ms alone',
    'more than the API server',
    'its CPU',
    'CPU ms a call',
    'target',
    '',
  ];
  return table(`GET of ${what}, ${MANY} connections; alone: one`, head, rows);
}

function watchTable({ open, bytesEach, times: { laterMs } }: GatewayResults['watches']): string {
  const p99 = quantile(laterMs, 0.99);
  const row = [
    `${count(open)} watches`,
    `${number(bytesEach / 1_000)} kB`,
    number(median(laterMs)),
    number(p99),
    `≤ ${MORE_EVENT_P99_MS} ms`,
    verdict(p99 <= MORE_EVENT_P99_MS),
  ];
  return table('Watches', ['', 'memory each', 'event later p50 ms', 'p99 ms', 'target', ''], [row]);
}

function besideTable(beside: GatewayResults['beside']): string {
  const share = median(beside.map(({ alone, busy }) => busy.requestsPerSecond / alone.requestsPerSecond));
  const row = [
    'a page of the node list',
    number(median(beside.map(({ alone }) => alone.requestsPerSecond))),
    number(median(beside.map(({ busy }) => busy.requestsPerSecond))),
    percent(share),
    `≥ ${percent(LEAST_BESIDE)}`,
    verdict(share >= LEAST_BESIDE),
  ];
  return table('Beside a saturated gateway', ['', 'requests/s alone', 'beside', 'kept', 'target', ''], [row]);
}
