/**
 * A running API server under test, with the custom resources `users` and `loginrecords` of `iam.gatehouse.io`. The suite
 * assumes that nothing else writes nodes to it.
 */
export interface ConformanceTarget {
  readonly url: string;
  /** PEM file of the CA to trust; none for plain HTTP. */
  readonly caFile?: string;
  /** The token of a member of system:masters. */
  readonly token: string;
  /** The token of the user `nobody`, who is in no group and has only the rights that a test grants. */
  readonly powerlessToken: string;
  /** Lets all versions but the newest expire. It may end open connections. */
  compact(): Promise<void>;
  stop(): Promise<void>;
}
