import type { WatcherReport } from './load/watchers.ts';
import type { Bench } from './measure.ts';
import type { BenchCluster } from './peers/bench-cluster.ts';
import { startGatehouse } from './peers/gatehouse.ts';

export interface WatchResults {
  readonly nodes: number;
  readonly watchers: number;
  readonly slow: number;
  /** Each with a server of its own; the first is what a watcher gets that asks for nothing else. */
  readonly forms: readonly { readonly name: string; readonly report: WatcherReport }[];
}

const METADATA = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' };
const GZIP = { 'accept-encoding': 'gzip' };
const FORMS = [
  { name: 'whole nodes', headers: {}, coding: 'identity' },
  { name: 'metadata alone', headers: METADATA, coding: 'identity' },
  { name: 'whole nodes, gzip', headers: GZIP, coding: 'gzip' },
  { name: 'metadata alone, gzip', headers: { ...METADATA, ...GZIP }, coding: 'gzip' },
] as const;

const IDLE_MS = 20_000;
/** That read nothing, and are cut off within the idle time. */
const SLOW = 10;
const STALL = '10s';
const TRIES = 20;
/** Longer than the time in which changes are gathered, so that each goes by itself. */
const PAUSE_MS = 500;
const TIMEOUT_MS = 30_000;
/** For the bench itself. */
const SPARE = 100;

/** So many watchers that wait, then changes that reach them: in each form of the stream. */
export async function measureWatch(bench: Bench, cluster: BenchCluster, watchers: number): Promise<WatchResults> {
  const nodes = cluster.nodeNames.length;
  const forms: { name: string; report: WatcherReport }[] = [];
  for (const { name, headers, coding } of FORMS) {
    bench.note(`${watchers} watchers of ${nodes} nodes, ${name}: idle, then ${TRIES} changes`);
    const gatehouse = await startGatehouse(bench.children, {
      ...cluster,
      name: 'watch',
      settings: settingsFor(watchers),
    });
    const report = await bench.generator.watchers({
      cluster: cluster.target,
      gatehouse: gatehouse.target,
      listPath: gatehouse.listPath,
      metricsUrl: gatehouse.metricsUrl,
      serverPid: gatehouse.pid,
      nodes: cluster.nodeNames,
      headers,
      coding,
      watchers,
      slow: SLOW,
      idleMs: IDLE_MS,
      tries: TRIES,
      pauseMs: PAUSE_MS,
      timeoutMs: TIMEOUT_MS,
    });
    forms.push({ name, report });
    await gatehouse.stop();
  }
  return { nodes, watchers, slow: SLOW, forms };
}

function settingsFor(watchers: number) {
  const most = watchers + SPARE;
  const limits = {
    answerTimeout: STALL,
    maxWatches: most,
    maxWatchesPerUser: most,
    maxConnections: most,
    maxConnectionsPerAddress: most,
  };
  return { limits };
}
