import { z } from 'zod';
import { count, duration, path, port, section } from './fields.ts';

const KIB = 1024;

export const server = section({
  address: z.string().min(1).optional().describe('Address to listen on; all interfaces when absent.'),
  port: port.default(9090).describe('Port of the API.'),
  metricsPort: port.default(9091).describe('Port of /metrics, not to be published.'),
  shutdownDelay: duration()
    .prefault('0s')
    .describe('How long the server goes on after SIGTERM while /readyz already fails, so that load balancers notice.'),
  tls: z
    .strictObject({ certFile: path, keyFile: path })
    .optional()
    .describe('Serve HTTPS on the API port with this certificate and key (PEM).'),
});

export const limits = section({
  maxHeaderBytes: count.default(16 * KIB).describe('Request line and headers together; above: 431.'),
  maxHeaders: count.default(100).describe('Number of header lines; above: 431.'),
  headersTimeout: duration().prefault('10s').describe('Time to send all headers; after: 408.'),
  bodyTimeout: duration().prefault('30s').describe('Time to send the body; after: 408.'),
  keepAliveTimeout: duration().prefault('75s').describe('How long an idle connection is kept.'),
  maxConnections: count.default(10_000).describe('Sockets in total.'),
  maxConnectionsPerAddress: count
    .default(1_000)
    .describe('Sockets of one address; raise it where one address is a proxy or a NAT.'),
  maxFormBytes: count.default(16 * KIB).describe('Body of a form under /oauth; above: 413.'),
  maxSignInsInFlight: count.default(32).describe('Requests to /oauth/token at once; above: 429.'),
  maxRequestsInFlight: count.default(512).describe('All other requests at once; above: 429.'),
  answerTimeout: duration().prefault('30s').describe('Time for an answer under /kapis; after: 504.'),
  maxBearerBytes: count.default(8 * KIB).describe('Length of a bearer; above: 401.'),
  maxQueryParameters: count.default(64).describe('Pairs in a query string under /kapis; above: 400.'),
});

export const log = section({
  level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  format: z.enum(['json', 'pretty']).default('json').describe('json: one object a line; pretty: for people.'),
});
