import type { LoadReport } from './load/load.ts';
import type { VisibleReport } from './load/visible.ts';
import type { Coding } from './peers/peer.ts';

/** One server and coding, measured once a round. */
export interface Cell {
  readonly peer: string;
  readonly coding: Coding;
  readonly rounds: readonly LoadReport[];
}

/** In bytes; undefined where the platform does not say. */
export interface MemoryUse {
  readonly afterSync: number | undefined;
  readonly afterLoad: number | undefined;
  readonly peak: number | undefined;
}

/** What was measured with one number of nodes on one cluster. */
export interface Measured {
  readonly cluster: string;
  readonly nodes: number;
  readonly cells: readonly Cell[];
  readonly memory: MemoryUse;
  readonly visible: VisibleReport;
}

export interface StartUp {
  readonly nodes: number;
  /** One a round, each a new process. */
  readonly startToReadyMs: readonly number[];
}

export interface Results {
  readonly machine: { readonly processors: number; readonly node: string; readonly loadAverage: number };
  /** What the generator reaches when the answer is next to nothing. */
  readonly ceiling: LoadReport;
  readonly startUps: readonly StartUp[];
  readonly measured: readonly Measured[];
  /** Why there is no real kube-apiserver in the results, in words; undefined when there is. */
  readonly withoutReal: string | undefined;
}
