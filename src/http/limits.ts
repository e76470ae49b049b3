/** What one request, one connection and all of them together may take; each is a setting. */
export interface HttpLimits {
  /** Request line and headers together, of paths of the cluster where they are served; above: 431. */
  readonly maxHeaderBytes: number;
  /** Those of all other paths, at most as many. */
  readonly maxHeaderBytesElsewhere: number;
  /** Header lines, counted as sent; above: 431. */
  readonly maxHeaders: number;
  /** The time from the first byte (or the connect) to the end of the headers; after it the answer is 408. */
  readonly headersTimeoutMs: number;
  /** The time from the headers to the end of the body; after it the answer is 408. */
  readonly bodyTimeoutMs: number;
  /** How long an idle connection is kept. */
  readonly keepAliveTimeoutMs: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Body of a form under /oauth; above: 413. */
  readonly maxFormBytes: number;
  /** Requests to /oauth/token at once; above: 429. */
  readonly maxSignInsInFlight: number;
  /** All other requests at once, health aside; above: 429. */
  readonly maxRequestsInFlight: number;
  /** Watches of all lists that are open at once; above: 429. */
  readonly maxWatches: number;
  /** Those of one user, by name; above: 429. */
  readonly maxWatchesPerUser: number;
  /** Calls to the cluster that are under way at once; above: 429. */
  readonly maxGatewayRequests: number;
  /** Those of one user, by name; above: 429. */
  readonly maxGatewayRequestsPerUser: number;
  /** Watches, followed logs and upgraded connections that are open at once through the gateway; above: 429. */
  readonly maxGatewayStreams: number;
  /** Those of one user, by name; above: 429. */
  readonly maxGatewayStreamsPerUser: number;
  /** Log queries that are under way at once, exports until their end; above: 429. */
  readonly maxLogQueries: number;
  /** Those of one user, by name; above: 429. */
  readonly maxLogQueriesPerUser: number;
  /** Time for an answer under /kapis; after: 504. */
  readonly answerTimeoutMs: number;
  /** Time in which a client must take something of what waits for it; after: cut off. */
  readonly sendTimeoutMs: number;
  /** Text of a bearer; above: 401 without cryptography. */
  readonly maxBearerBytes: number;
}
