import { countBetween, duration, section } from './fields.ts';

const KIB = 1024;

/** A time limit. Without one a request would wait for ever, so it can be changed but not switched off. */
const timeLimit = (usual: string) =>
  duration({ minMs: 1000, maxMs: 3_600_000, bounds: 'between 1s and 1h: a limit cannot be switched off' }).prefault(
    usual,
  );

export const limits = section({
  maxHeaderBytes: countBetween(KIB, 1024 * KIB)
    .optional()
    .describe(
      'Request line and headers together; above: 431. The command of an `exec` is in the request line. If you set a value, it holds for all paths. Default: 16384, with `gateway.enabled` 65536 for paths of the cluster.',
    ),
  maxHeaders: countBetween(1, 2000).default(100).describe('Number of header lines; above: 431.'),
  headersTimeout: timeLimit('10s').describe('The time in which a client has to send all headers; then 408.'),
  bodyTimeout: timeLimit('30s').describe('The time in which a client has to send the body; then 408.'),
  keepAliveTimeout: timeLimit('75s').describe('How long an idle connection is kept open.'),
  maxConnections: countBetween(1, 1_000_000).default(10_000).describe('Open connections in all.'),
  maxConnectionsPerAddress: countBetween(1, 1_000_000)
    .default(1_000)
    .describe('Open connections of one address. Raise it if one address is a proxy or a NAT.'),
  maxFormBytes: countBetween(KIB, 1024 * KIB)
    .default(16 * KIB)
    .describe(
      'Body of a client’s form under /oauth; above: 413. The form of the sign-in page has a limit of its own, 24 KiB.',
    ),
  maxSignInsInFlight: countBetween(1, 10_000)
    .default(32)
    .describe('Requests to /oauth/token and forms of the sign-in page at the same time; above: 429.'),
  maxRequestsInFlight: countBetween(1, 100_000)
    .default(512)
    .describe('All other requests at the same time; above: 429.'),
  maxWatches: countBetween(1, 100_000).default(1_024).describe('Open watches of all lists; above: 429.'),
  // Eight users must have all their watches open before others are refused. Nobody has 128 tabs, and no program 128 replicas.
  maxWatchesPerUser: countBetween(1, 100_000)
    .default(128)
    .describe(
      'Open watches of one user, service accounts included, counted by name over all of its sessions; above: 429.',
    ),
  // By default the API server itself works on 600 calls of all users at once.
  maxGatewayRequests: countBetween(1, 100_000)
    .default(512)
    .describe('Calls to the cluster through the gateway at once; above: 429.'),
  maxGatewayRequestsPerUser: countBetween(1, 100_000)
    .default(128)
    .describe('Calls of one user through the gateway at once, by name; above: 429.'),
  maxGatewayStreams: countBetween(1, 100_000)
    .default(1_024)
    .describe('Watches, followed logs and upgraded connections through the gateway at once; above: 429.'),
  // A controller that watches every kind of a cluster has some sixty watches.
  maxGatewayStreamsPerUser: countBetween(1, 100_000)
    .default(256)
    .describe('Watches, followed logs and upgraded connections of one user at once, by name; above: 429.'),
  maxLogQueries: countBetween(1, 10_000)
    .default(64)
    .describe('Log queries at once; an export counts until it ends; above: 429.'),
  // Four users must run all their queries before others are refused.
  maxLogQueriesPerUser: countBetween(1, 10_000)
    .default(16)
    .describe('Log queries of one user at once, by name; above: 429.'),
  answerTimeout: timeLimit('30s').describe('The time for an answer under /kapis; then 504.'),
  // A shorter time cuts off healthy readers on slow lines: `StallDetector` has the arithmetic.
  sendTimeout: timeLimit('10m').describe(
    'Gatehouse disconnects a client that reads nothing of its answer for this long.',
  ),
  // Our longest access token has 2 KiB.
  maxBearerBytes: countBetween(2 * KIB, 1024 * KIB)
    .default(8 * KIB)
    .describe('Length of a bearer token; above: 401.'),
}).describe('Limits of connections and requests. Every limit can be changed; none can be switched off.');
