import type { Coding } from './peers/peer.ts';

/** The least ratio of requests per second, Gatehouse to the other server; undefined where none is promised. */
export function leastRatio(reference: string, coding: Coding, nodes: number): number | undefined {
  if (reference === 'kube-apiserver') return coding === 'identity' ? 10 : 200;
  // A short answer is mostly the cost of a request: token, decision and log line, which the bare server has not.
  if (nodes < 100) return 0.5;
  return coding === 'gzip' && nodes < 1000 ? 0.5 : 0.8;
}

/** From a change in the cluster to its sight in the list. */
export const VISIBLE_P50_MS = { ideal: 5, required: 20 } as const;

/** Of one core; from here on the generator may be what is measured. */
export const GENERATOR_SHARE = 0.85;

/** Of one core; a server of one thread that got less was held up by something else on the machine. */
export const SATURATED_SHARE = 0.85;
