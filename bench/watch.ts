import type { WatcherReport } from './load/watchers.ts';
import type { Bench } from './measure.ts';
import type { BenchCluster } from './peers/bench-cluster.ts';
import { startGatehouse } from './peers/gatehouse.ts';

export interface WatchResults {
  readonly nodes: number;
  readonly watchers: number;
  readonly slow: number;
  readonly report: WatcherReport;
}

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

/** So many watchers that wait, then changes that reach them. */
export async function measureWatch(bench: Bench, cluster: BenchCluster, watchers: number): Promise<WatchResults> {
  const nodes = cluster.nodeNames.length;
  bench.note(`${watchers} watchers of ${nodes} nodes: idle, then ${TRIES} changes`);
  const most = watchers + SPARE;
  const limits = {
    answerTimeout: STALL,
    maxWatches: most,
    maxWatchesPerUser: most,
    maxConnections: most,
    maxConnectionsPerAddress: most,
  };
  const gatehouse = await startGatehouse(bench.children, { ...cluster, name: 'watch', settings: { limits } });
  const report = await bench.generator.watchers({
    cluster: cluster.target,
    gatehouse: gatehouse.target,
    listPath: gatehouse.listPath,
    metricsUrl: gatehouse.metricsUrl,
    serverPid: gatehouse.pid,
    nodes: cluster.nodeNames,
    watchers,
    slow: SLOW,
    idleMs: IDLE_MS,
    tries: TRIES,
    pauseMs: PAUSE_MS,
    timeoutMs: TIMEOUT_MS,
  });
  await gatehouse.stop();
  return { nodes, watchers, slow: SLOW, report };
}
