import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { Connection, requestBytes } from './load/connection.ts';
import { memoryOf, processorSecondsOf } from './load/usage.ts';
import { type BenchCluster, startSimulated } from './peers/clusters.ts';
import { type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import { median } from './statistics.ts';
import { count, megabytes, number, table } from './table.ts';

/** What an idle process uses. */
interface IdleUse {
  readonly bytes: number;
  /** The processor time, as a share of one core. */
  readonly share: number;
}

export interface IdleResults {
  /** With one reflector (nodes), and with two (nodes and pods, in a cluster without pods). One result a round. */
  readonly one: readonly IdleUse[];
  readonly two: readonly IdleUse[];
  readonly connections: number;
  /** Like `two`, with `connections` idle keep-alive connections, after one request on each. */
  readonly connected: readonly IdleUse[];
}

const NODES = 10;
const CONNECTIONS = 1_000;
const LIMITS = { limits: { maxConnectionsPerAddress: CONNECTIONS + 10 } };
/** In this time the garbage of the start is collected, and the code is compiled. */
const SETTLE_MS = 5_000;

export async function measureIdle(bench: Bench): Promise<IdleResults> {
  bench.note(`an idle process: with one reflector more, with ${CONNECTIONS} idle connections`);
  const cluster = await startSimulated(NODES, 0);
  const results = { one: [] as IdleUse[], two: [] as IdleUse[], connected: [] as IdleUse[], connections: CONNECTIONS };
  for (let round = 0; round < bench.options.rounds; round++) {
    const one = await startIdle(bench, cluster, { nodes: { usage: false } });
    results.one.push(await useOf(one, bench.options.seconds));
    await one.stop();
    const two = await startIdle(bench, cluster, LIMITS);
    results.two.push(await useOf(two, bench.options.seconds));
    results.connected.push(await connectedUse(two, bench.options.seconds));
    await two.stop();
  }
  await cluster.stop();
  return results;
}

async function startIdle({ children }: Bench, cluster: BenchCluster, settings: Record<string, object>) {
  const gatehouse = await startGatehouse(children, { ...cluster, name: 'idle', settings });
  await sleep(SETTLE_MS);
  return gatehouse;
}

async function useOf(gatehouse: Gatehouse, seconds: number): Promise<IdleUse> {
  const before = processorSecondsOf(gatehouse.pid) ?? Number.NaN;
  await sleep(seconds * 1_000);
  const share = ((processorSecondsOf(gatehouse.pid) ?? Number.NaN) - before) / seconds;
  return { bytes: (await memoryOf(gatehouse)).now ?? Number.NaN, share };
}

async function connectedUse(gatehouse: Gatehouse, seconds: number): Promise<IdleUse> {
  const request = requestBytes(gatehouse.target, { path: '/version' });
  const connections: Connection[] = [];
  for (let count = 0; count < CONNECTIONS; count++) {
    const connection = await Connection.open(gatehouse.target);
    connections.push(connection);
    await connection.exchange(request);
  }
  await sleep(SETTLE_MS);
  const use = await useOf(gatehouse, seconds);
  for (const connection of connections) connection.close();
  return use;
}

/** What an idle process costs, as text. There is no target; these figures are for information. */
export function printIdle({ one, two, connected, connections }: IdleResults): string {
  const bytes = (uses: readonly IdleUse[]): number => median(uses.map((use) => use.bytes));
  const row = (name: string, uses: readonly IdleUse[], than?: readonly IdleUse[]): string[] => [
    name,
    megabytes(bytes(uses)),
    than ? megabytes(bytes(uses) - bytes(than)) : '–',
    `${number(median(uses.map((use) => use.share)) * 100)} %`,
  ];
  const rows = [
    row('nodes only', one),
    row('nodes and pods, no pod is there', two, one),
    row(`… and ${count(connections)} idle keep-alive connections`, connected, two),
  ];
  return table('An idle process: 10 nodes', ['', 'resident', 'more', 'of a core'], rows);
}
