import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogDocument } from '../dev/log-store/stored-record.ts';
import { LOGS as KIND, MESSAGE } from '../src/documents/kinds/log-kind.ts';
import { DIALECTS } from '../src/documents/search/dialects.ts';
import { byTime, toStoreQuery } from '../src/documents/search/search-body.ts';
import { type RealStore, startStore } from '../test/log-stores/real-store.ts';
import { logRecords } from '../test/support/logs/log-records.ts';
import { type Bench, probePlan } from './bench.ts';
import type { ProbeReport } from './load/probes.ts';
import { residentGrowth } from './load/resident-watch.ts';
import { type Simulation, startSimulated } from './peers/clusters.ts';
import { DEPLOYED_HEAP, type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import { median } from './statistics.ts';
import { count, megabytes, number, table, verdict } from './table.ts';

/** An export of logs compared with a scroll of the store, and the node list while the store hangs. */
export interface LogsResults {
  readonly exports: readonly ExportRound[];
  readonly hanging: readonly HangingRound[];
}

/** The node list, before and while queries hang. */
interface HangingRound {
  readonly before: ProbeReport;
  readonly beside: ProbeReport;
}

interface ExportRound {
  readonly messages: number;
  /** Bytes of messages in a second. */
  readonly scroll: number;
  readonly ours: number;
  /** How much resident memory grew while the export ran, in bytes. */
  readonly grown: number;
}

const LEAST_EXPORT = 0.7;
const MOST_GROWN_BYTES = 16e6;
/** Target: how many times longer the 99th percentile of the node list may be while the store hangs. */
const MOST_SLOWER = 1.25;

/** How often the 12,000 records are stored, which gives a little more than a million messages. */
const COPIES = 84;
/** With 256 MiB the store refuses to search a million records. */
const HEAP_MIB = 1_024;
/** The size of a piece, as in Gatehouse's requests. */
const AT_ONCE = 500;
const DIALECT = DIALECTS.opensearchv2;
const NODES = 100;
/** The most queries that may be in flight, from four users who each have the most that one user may have. */
const HANGING = 64;
const SETTLE_MS = 1_000;

const LOGS = '/kapis/tenant.gatehouse.io/v1alpha2/logs';
const PREFIX = 'ks-logstash-log';
const DAYS = { start: 1_772_755_200, end: 1_773_014_400 };

export async function measureLogs(bench: Bench): Promise<LogsResults> {
  const simulation = await startSimulated(NODES);
  const store = await startStore('opensearch-2', HEAP_MIB);
  const settings = { logging: { host: store.url, exportLogsLimit: 10_000_000 } };
  const gatehouse = await startGatehouse(bench.children, {
    ...simulation,
    name: 'logs',
    settings,
    nodeArguments: DEPLOYED_HEAP,
  });
  const exports = await measureExports(bench, store, gatehouse);
  for (const part of [gatehouse, store]) await part.stop();
  const hanging = await measureHanging(bench, simulation);
  await simulation.stop();
  return { exports, hanging };
}

async function measureExports(bench: Bench, store: RealStore, gatehouse: Gatehouse): Promise<ExportRound[]> {
  const records = logRecords();
  for (let copy = 1; copy <= COPIES; copy++) {
    if (copy % 12 === 0) bench.note(`loading, ${copy} of ${COPIES}`);
    await store.load(records);
  }
  await exportAll(gatehouse, DAYS); // a first run, after which the code is compiled and has its memory
  const rounds: ExportRound[] = [];
  for (let round = 1; round <= bench.options.rounds; round++) {
    bench.note(`exports, round ${round}`);
    const scroll = await scrollAll(store, records);
    const { result: ours, grown } = await residentGrowth(gatehouse, () => exportAll(gatehouse, {}));
    const bytesOf = ({ bytes, seconds }: Transfer): number => bytes / seconds;
    rounds.push({
      messages: ours.messages,
      scroll: bytesOf(scroll),
      ours: bytesOf({ ...ours, bytes: scroll.bytes }),
      grown,
    });
  }
  return rounds;
}

interface Transfer {
  readonly messages: number;
  /** The bytes of the messages as they are stored. */
  readonly bytes: number;
  readonly seconds: number;
}

/** Reads every message with a scroll, without parsing the answers beyond the scroll id. */
async function scrollAll(store: RealStore, records: readonly LogDocument[]): Promise<Transfer> {
  const began = performance.now();
  const post = async (path: string, body: object): Promise<string> => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(store.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).text();
  };
  const first = {
    size: AT_ONCE,
    sort: byTime('desc', { kind: KIND, dialect: DIALECT }),
    _source: [MESSAGE],
    query: toStoreQuery(EVERYTHING, { ...DIALECT, kind: KIND }),
  };
  let text = await post(`/${PREFIX}*/_search?scroll=2m&track_total_hits=true`, first);
  let id = '';
  while (!text.includes('"hits":[]')) {
    id = /"_scroll_id":"([^"]+)"/.exec(text)?.[1] ?? id;
    text = await post('/_search/scroll', { scroll: '2m', scroll_id: id });
  }
  const seconds = (performance.now() - began) / 1_000;
  await store.ask('DELETE', '/_search/scroll', { scroll_id: [id] });
  const bytes = records.reduce((sum, { log }) => sum + Buffer.byteLength(log), 0) * COPIES;
  return { messages: records.length * COPIES, bytes, seconds };
}

const EVERYTHING = { conditions: [], time: {} };

const NEWLINE = 10;

async function exportAll({ target }: Gatehouse, { start, end }: Partial<typeof DAYS>): Promise<Transfer> {
  const search = new URLSearchParams({
    operation: 'export',
    ...(start !== undefined && { start_time: `${start}` }),
    ...(end !== undefined && { end_time: `${end}` }),
  });
  const began = performance.now();
  const headers = { ...target.headers, 'accept-encoding': 'identity' };
  const answer = await fetch(`http://127.0.0.1:${target.port}${LOGS}?${search}`, { headers });
  if (answer.status !== 200) throw new Error(`the export is answered ${answer.status}`);
  let [bytes, messages] = [0, 0];
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    for (const byte of chunk) if (byte === NEWLINE) messages++;
  }
  return { messages, bytes, seconds: (performance.now() - began) / 1_000 };
}

/** Measures the node list ten times a second, before and while the most possible queries wait for a silent store. */
async function measureHanging(bench: Bench, simulation: Simulation): Promise<LogsResults['hanging']> {
  bench.note('the node list beside a store that hangs');
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const settings = {
    logging: { host: `http://127.0.0.1:${port}`, version: 'opensearchv2' },
    limits: { maxLogQueriesPerUser: HANGING },
  };
  const gatehouse = await startGatehouse(bench.children, { ...simulation, name: 'hanging', settings });
  const measureMs = bench.options.seconds * 1_000;
  const plan = probePlan(gatehouse, 'identity', measureMs);
  await bench.generator.probes(plan);
  const rounds: HangingRound[] = [];
  for (let round = 1; round <= bench.options.rounds; round++) {
    const before = await bench.generator.probes(plan);
    const queries = keepAsking(gatehouse);
    await sleep(SETTLE_MS);
    const beside = await bench.generator.probes(plan);
    await queries.stop();
    await sleep(SETTLE_MS);
    rounds.push({ before, beside });
  }
  await gatehouse.stop();
  silent.closeAllConnections();
  silent.close();
  return rounds;
}

/** Keeps `HANGING` queries in flight until it is stopped. */
function keepAsking({ target }: Gatehouse): { stop(): Promise<unknown> } {
  const left = new AbortController();
  const { signal } = left;
  const waiting = Array.from({ length: HANGING }, async () => {
    while (!signal.aborted)
      await fetch(`http://127.0.0.1:${target.port}${LOGS}`, { headers: target.headers, signal })
        .then((answer) => answer.text())
        .catch(() => undefined);
  });
  return {
    stop() {
      left.abort();
      return Promise.all(waiting);
    },
  };
}

/** The results as text: a table with targets. */
export function printLogs({ exports, hanging }: LogsResults): string {
  const ratio = median(exports.map(({ ours, scroll }) => ours / scroll));
  const grown = median(exports.map((round) => round.grown));
  const slower = median(hanging.map(({ before, beside }) => beside.p99Ms / before.p99Ms));
  const isAnswered = hanging.every(({ beside }) => beside.statuses['200'] === beside.probes);
  const p99s = (of: keyof HangingRound): number => median(hanging.map((round) => round[of].p99Ms));
  const judged = (isGood: boolean, ...cells: readonly string[]): string[] => [...cells, verdict(isGood)];
  const rows = [
    [
      `export of ${count(exports[0]?.messages ?? 0)} messages, share of a scroll`,
      ...judged(ratio >= LEAST_EXPORT, number(ratio), `≥ ${LEAST_EXPORT}`),
    ],
    ['messages a second, MB', number(median(exports.map(({ ours }) => ours / 1e6))), '', ''],
    [
      'resident memory grown by it',
      ...judged(grown <= MOST_GROWN_BYTES, megabytes(grown), `≤ ${megabytes(MOST_GROWN_BYTES)}`),
    ],
    ['node list before, p99, ms', number(p99s('before')), '', ''],
    [
      `node list beside ${HANGING} queries that hang, p99, ms`,
      ...judged(isAnswered && slower <= MOST_SLOWER, number(p99s('beside')), `≤ ${MOST_SLOWER} × before`),
    ],
  ];
  return table('Logs in front of OpenSearch 2', ['', 'measured', 'target', ''], rows);
}
