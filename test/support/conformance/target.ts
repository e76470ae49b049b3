/**
 * A running API server under test, with the custom resources `users` and `loginrecords` of `iam.gatehouse.io`. The suite
 * assumes that nothing else writes nodes to it.
 */
export interface ConformanceTarget {
  readonly url: string;
  /** PEM file of the CA to trust; none for plain HTTP. */
  readonly caFile?: string;
  /** Of a member of system:masters. */
  readonly token: string;
  /** Of the user `nobody`, who is in no group and has no rights but those that a test gives him. */
  readonly powerlessToken: string;
  /** Makes every resourceVersion older than the newest expire. It may end open connections. */
  compact(): Promise<void>;
  stop(): Promise<void>;
}
