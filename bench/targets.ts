import type { Coding } from './peers/peer.ts';

/** The least ratio of requests per second, Gatehouse to the other server; undefined where none is promised. */
export function leastRatio(reference: string, coding: Coding, nodes: number): number | undefined {
  if (reference === 'kube-apiserver') return coding === 'identity' ? 10 : 200;
  if (reference !== 'bare node:http') return undefined;
  // A short answer is mostly the cost of a request: token, decision and log line, which the bare server has not.
  if (nodes < 100) return 0.5;
  return coding === 'gzip' && nodes < 1000 ? 0.5 : 0.8;
}

/** From a change in the cluster to its sight in the list, at 100 changes a second. */
export const VISIBLE_MS = { p50: 5, p99: 20 } as const;

/** Requests per second of a page of ten, out of many nodes, against the list of ten nodes. */
export const PAGE_RATIO = 0.7;

/** A label selector that matches a third of the nodes, a page of ten, 99th percentile. */
export const SELECTOR_P99_MS = 5;

/** Resident memory with 5,000 nodes and 150,000 pods: when it is ready, and at its highest until after the load. */
export const MEMORY_BYTES = { afterSync: 300e6, peak: 400e6 } as const;

/** Start to ready, by number of nodes; ten pods are on each. 15,000 nodes: R-11. */
export const START_MS: Readonly<Record<number, number>> = { 10: 1_000, 5000: 8_000, 15000: 15_000 };

/** While 5,000 events a second arrive (C-29). */
export const STORM = { loopDelayP99Ms: 50, visibleP99Ms: 1_000, listP99Ratio: 2 } as const;

/** Of the event loop, whatever the cluster does (C-26, C-29), in processor time of its thread. */
export const LONGEST_TURN_MS = 50;

/** Of resident memory in a soak, by the hour. */
export const SOAK_SLOPE_BYTES = 1e6;

/** From a change in the cluster to its sight by every watcher. */
export const WATCH_REACH_MS = 1_000;

/** Of one core; from here on the generator may be what is measured. */
export const GENERATOR_SHARE = 0.85;

/** Of one core; a server of one thread that got less was held up by something else on the machine. */
export const SATURATED_SHARE = 0.85;

/** The node list while 64 connections sign in, against the same without them. */
export const FLOODED_LIST = { keptShare: 0.6, p99Ms: 50 } as const;

/** What a flood of sign-ins may be answered. */
export const FLOOD_STATUSES: readonly string[] = ['200', '400', '429'];

/** Unknown names against known ones. The t is promised for so many samples of each, and says little for fewer. */
export const TOLD_APART = { medianMs: 3, t: 4.5, tSamples: 2000 } as const;

/** A second, for each core that the server uses meanwhile. */
export const PER_CORE = { signIns: 15, refreshes: 120 } as const;

/** What a flood of questions leaves of others' uncached decisions, against the same when idle (R-21, A-49). */
export const FLOODED_REVIEW_P99_RATIO = 2;

/** For how long a right may outlive its end, besides one review. */
export const RIGHT_OUTLIVES_MS = 10_000;

/** While the API server is frozen, callers whose answer is known. */
export const FROZEN_P99_MS = 50;

/** The check of a bearer, 99th percentile. */
export const BEARER_P99_MS = { cached: 1, firstUse: 2 } as const;
