import type { Target } from '../load/connection.ts';

/** An API server with nodes, which Gatehouse mirrors. */
export interface BenchCluster {
  readonly name: string;
  /** Reached as administrator. */
  readonly target: Target;
  /** Text of a kubeconfig file. */
  readonly kubeconfig: string;
  readonly nodeNames: readonly string[];
  stop(): Promise<void>;
}
