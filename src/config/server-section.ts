import { z } from 'zod';
import { countBetween, duration, path, port, section } from './fields.ts';

const KIB = 1024;

export const server = section({
  address: z.string().min(1).optional().describe('Address to listen on. Default: all interfaces.'),
  port: port.default(9090).describe('Port of the API.'),
  metricsPort: port.default(9091).describe('Port of /metrics, different from `server.port`. It must not be published.'),
  shutdownDelay: duration()
    .prefault('0s')
    .describe(
      'How long the server goes on serving after SIGTERM while /readyz already fails, so that load balancers notice.',
    ),
  tls: z
    .strictObject({
      certFile: path.describe('The certificate and its chain, in PEM.'),
      keyFile: path.describe('The unencrypted private key of the certificate, in PEM.'),
    })
    .optional()
    .describe(
      'Makes the API port and the metrics port speak HTTPS. The files are read again when they change, and so is `authentication.tokenReview.clientCAFile`: a change needs no restart. Default: plain HTTP.',
    ),
}).describe('Where the program listens.');

/** A time limit. Without one a request would wait for ever, so it can be changed but not switched off. */
const timeLimit = (usual: string) =>
  duration({ minMs: 1000, maxMs: 3_600_000, bounds: 'between 1s and 1h: a limit cannot be switched off' }).prefault(
    usual,
  );

export const limits = section({
  maxHeaderBytes: countBetween(KIB, 1024 * KIB)
    .default(16 * KIB)
    .describe('Request line and headers together; above: 431.'),
  maxHeaders: countBetween(1, 2000).default(100).describe('Number of header lines; above: 431.'),
  headersTimeout: timeLimit('10s').describe('Time to send all headers; after: 408.'),
  bodyTimeout: timeLimit('30s').describe('Time to send the body; after: 408.'),
  keepAliveTimeout: timeLimit('75s').describe('How long an idle connection is kept open.'),
  maxConnections: countBetween(1, 1_000_000).default(10_000).describe('Sockets in total.'),
  maxConnectionsPerAddress: countBetween(1, 1_000_000)
    .default(1_000)
    .describe('Sockets of one address; raise it where one address is a proxy or a NAT.'),
  maxFormBytes: countBetween(KIB, 1024 * KIB)
    .default(16 * KIB)
    .describe('Body of a form under /oauth; above: 413.'),
  maxSignInsInFlight: countBetween(1, 10_000).default(32).describe('Requests to /oauth/token at once; above: 429.'),
  maxRequestsInFlight: countBetween(1, 100_000).default(512).describe('All other requests at once; above: 429.'),
  maxWatches: countBetween(1, 100_000).default(1_024).describe('Open watches of the node list; above: 429.'),
  // At least eight users must fill their places before everybody is refused. It is more than a person has tabs, or a
  // program replicas.
  maxWatchesPerUser: countBetween(1, 100_000)
    .default(128)
    .describe(
      'Open watches of one user, service accounts included, counted by name over all of its sessions; above: 429.',
    ),
  answerTimeout: timeLimit('30s').describe('Time for an answer under /kapis; after: 504.'),
  // Our longest access token has 2 KiB.
  maxBearerBytes: countBetween(2 * KIB, 1024 * KIB)
    .default(8 * KIB)
    .describe('Length of a bearer; above: 401.'),
}).describe('Limits of connections and requests. Each can be changed, none switched off.');

const logLevel = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info');

export const log = section({
  level: logLevel.describe('The lowest level that is logged.'),
  auditLevel: logLevel.describe(
    'Level of the audit trail, independent of `log.level`: `info` logs everything, `warn` what was refused.',
  ),
  format: z.enum(['json', 'pretty']).default('json').describe('`json`: one object a line; `pretty`: for people.'),
}).describe('What is written to standard output.');
