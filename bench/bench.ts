import type { Children } from './children.ts';
import type { Generator } from './load/generator.ts';
import type { LoadPlan } from './load/load.ts';
import type { ProbePlan } from './load/probes.ts';
import type { VisiblePlan } from './load/visible.ts';
import type { BenchCluster } from './peers/clusters.ts';
import type { Gatehouse } from './peers/gatehouse.ts';
import { type Coding, listHeaders, type Peer } from './peers/peer.ts';

/** What every measurement needs, and the plans that several of them share. */
export interface Bench {
  readonly children: Children;
  readonly generator: Generator;
  /** Takes one line of progress. */
  readonly note: (line: string) => void;
  readonly options: BenchOptions;
  /** The path of nginx; undefined if it is not installed. */
  readonly nginx: string | undefined;
  /** The reason why no real kube-apiserver can be started; undefined if one can. */
  readonly withoutReal: string | undefined;
}

/** The options of the command line. */
export interface BenchOptions {
  /** In ascending order, without duplicates. */
  readonly nodes: readonly number[];
  /** The measured time, for each peer, coding and round. */
  readonly seconds: number;
  readonly rounds: number;
  readonly samples: number;
  readonly watchers: number;
  readonly minutes: number;
  readonly visits: number;
  readonly seed: number;
  readonly svg: string | undefined;
}

const CONNECTIONS = 8;
const WARM_UP_MS = 1_000;
/** Bounds the memory of the generator. No server here answers so many requests in a round. */
const MAX_REQUESTS = 1_000_000;

/** The list of one peer in one coding. */
export const listPlan = (peer: Peer, coding: Coding, seconds: number): LoadPlan => ({
  target: peer.target,
  path: peer.listPath,
  headers: listHeaders(coding),
  connections: CONNECTIONS,
  warmUpMs: WARM_UP_MS,
  measureMs: seconds * 1_000,
  maxRequests: MAX_REQUESTS,
  ...(peer.pid === undefined ? {} : { serverPid: peer.pid }),
});

const PROBE_MS = 100;

/** Requests a page of ten nodes, ten times a second. */
export const probePlan = ({ target, listPath }: Gatehouse, coding: Coding, measureMs: number): ProbePlan => ({
  target,
  path: `${listPath}?limit=10`,
  headers: listHeaders(coding),
  everyMs: PROBE_MS,
  measureMs,
});

/** The time between two changes, as in a large cluster. */
const VISIBLE_EVERY_MS = 10;
const VISIBLE_TIMEOUT_MS = 5_000;

/** Makes a hundred changes a second, and measures when the list shows each. */
export const visiblePlan = (cluster: BenchCluster, gatehouse: Gatehouse, tries: number): VisiblePlan => ({
  cluster: cluster.target,
  gatehouse: gatehouse.target,
  listPath: gatehouse.listPath,
  objectsPath: '/api/v1/nodes',
  nodes: cluster.nodeNames,
  tries,
  everyMs: VISIBLE_EVERY_MS,
  timeoutMs: VISIBLE_TIMEOUT_MS,
});
