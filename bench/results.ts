import type { ChurnResults } from './churn.ts';
import type { CurveResults } from './curve.ts';
import type { IdleResults } from './idle.ts';
import type { LoadReport } from './load/load.ts';
import type { RefreshReport } from './load/refreshes.ts';
import type { SignInReport } from './load/sign-ins.ts';
import type { VisibleReport } from './load/visible.ts';
import type { PageResults } from './pages.ts';
import type { Coding } from './peers/peer.ts';
import type { ReviewResults } from './reviews.ts';
import type { SizeResults } from './size.ts';
import type { SoakResults } from './soak.ts';
import type { StormResults } from './storm.ts';
import type { TurnResults } from './turns.ts';
import type { WatchResults } from './watch.ts';

/** One server and coding, measured once a round. */
export interface Cell {
  readonly peer: string;
  readonly coding: Coding;
  readonly rounds: readonly LoadReport[];
}

/** In bytes; undefined where the platform does not say. */
export interface MemoryUse {
  readonly afterSync: number | undefined;
  /** The highest until then. */
  readonly syncPeak: number | undefined;
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

export interface ListResults {
  /** What the generator reaches when the answer is next to nothing. */
  readonly ceiling: LoadReport;
  readonly startUps: readonly StartUp[];
  readonly measured: readonly Measured[];
  /** Why there is no real kube-apiserver in the results, in words; undefined when there is. */
  readonly withoutReal: string | undefined;
}

/** The node list alone, then while connections sign in. */
export interface FloodRound {
  readonly alone: LoadReport;
  readonly flooded: LoadReport;
  readonly flood: SignInReport;
}

/** Milliseconds of each request, in their order. */
export interface BearerRound {
  /** Of a path that asks for no token. */
  readonly none: readonly number[];
  /** The same token each time. */
  readonly cached: readonly number[];
  /** Another token each time, as issued. */
  readonly firstUse: readonly number[];
}

/** Milliseconds of each request, by whether the name exists. */
export interface ToldApart {
  readonly known: readonly number[];
  readonly unknown: readonly number[];
}

export interface SignInResults {
  readonly nodes: number;
  readonly floods: readonly FloodRound[];
  /** Of sign-ins with a wrong password. */
  readonly toldApart: ToldApart;
  /** Of introspections with a wrong client secret. */
  readonly clientsToldApart: ToldApart;
  readonly signIns: readonly SignInReport[];
  /** Compares of the hash alone, for each second of processor time: what a sign-in can reach at most. One a round. */
  readonly bcryptPerCore: readonly number[];
  readonly refreshes: readonly RefreshReport[];
  readonly bearers: readonly BearerRound[];
}

export interface Results {
  readonly machine: { readonly processors: number; readonly node: string; readonly loadAverage: number };
  /** Absent where only others were asked for. */
  readonly lists?: ListResults;
  readonly signIn?: SignInResults;
  readonly pages?: PageResults;
  readonly size?: SizeResults;
  readonly idle?: IdleResults;
  readonly churn?: ChurnResults;
  readonly storm?: StormResults;
  readonly curve?: CurveResults;
  readonly soak?: SoakResults;
  readonly watch?: WatchResults;
  readonly reviews?: ReviewResults;
  readonly turns?: readonly TurnResults[];
}
