/** The limits of requests and connections, each a setting. */
export interface HttpLimits {
  /** The most bytes of request line and headers for the cluster's own paths; above: 431. */
  readonly maxHeaderBytes: number;
  /** The same limit for all other paths; it is not higher. */
  readonly maxHeaderBytesElsewhere: number;
  /** The most header lines, counted as sent; above: 431. */
  readonly maxHeaders: number;
  /** The time from the first byte (or the connect) to the end of the headers; after it the answer is 408. */
  readonly headersTimeoutMs: number;
  /** The time from the headers to the end of the body; after it the answer is 408. */
  readonly bodyTimeoutMs: number;
  /** How long an idle connection is kept. */
  readonly keepAliveTimeoutMs: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** The most bytes of a form under /oauth; above: 413. */
  readonly maxFormBytes: number;
  /** The most requests to /oauth/token in flight; above: 429. */
  readonly maxSignInsInFlight: number;
  /** The most other requests in flight, without health checks; above: 429. */
  readonly maxRequestsInFlight: number;
  /** The most open watches of all lists; above: 429. */
  readonly maxWatches: number;
  /** The most open watches of one user, by name; above: 429. */
  readonly maxWatchesPerUser: number;
  /** The most calls to the cluster in flight; above: 429. */
  readonly maxGatewayRequests: number;
  /** The most calls to the cluster in flight of one user, by name; above: 429. */
  readonly maxGatewayRequestsPerUser: number;
  /** The most open watches, logs and upgraded connections through the gateway; above: 429. */
  readonly maxGatewayStreams: number;
  /** The most open streams through the gateway of one user, by name; above: 429. */
  readonly maxGatewayStreamsPerUser: number;
  /** The most log queries in flight, exports until their end; above: 429. */
  readonly maxLogQueries: number;
  /** The most log queries in flight of one user, by name; above: 429. */
  readonly maxLogQueriesPerUser: number;
  /** The time limit of an answer under /kapis; after it the answer is 504. */
  readonly answerTimeoutMs: number;
  /** A client that reads nothing of the waiting bytes for this long is cut off. */
  readonly sendTimeoutMs: number;
  /** The most bytes of a bearer token; above: 401 without cryptography. */
  readonly maxBearerBytes: number;
}

/** How long a WebSocket that we end may take to finish its current frame before it is cut. A drain waits for it. */
export const GOODBYE_MS = 2_000;
