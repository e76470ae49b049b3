import {
  createServer as createPlainServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Registry } from 'prom-client';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { normaliseAddress } from '../../runtime/source-address.ts';
import { connectLine } from '../access-log.ts';
import { createRequestIds } from '../chain/begin.ts';
import type { App } from '../chain/chain.ts';
import type { HttpLimits } from '../limits/http-limits.ts';
import { type HttpMetrics, registerConnections } from '../metrics.ts';
import { answerParserRefusal, headerBytesOf, refuseBody, toParserRefusal } from './client-error.ts';
import { Connections } from './connections.ts';
import { drain } from './drain.ts';
import type { InFlight } from './pipeline.ts';
import { readServingCertificate, type TlsFiles } from './serving-certificate.ts';

export interface HttpServerOptions {
  /** Default: all interfaces. */
  readonly address?: string;
  /** 0: any free port. */
  readonly port: number;
  /** The files are watched while serving. Absent: plain HTTP. */
  readonly tls?: TlsFiles;
  /** How long serving goes on at a shutdown, while /readyz already fails. */
  readonly shutdownDelayMs: number;
  /** How long answers in flight may then take before they are cut. */
  readonly drainMs: number;
  /** How long streams that may outlast `drainMs` go on, counted from the same moment. Default: no stream may. */
  readonly streamDrainMs?: number;
}

export interface HttpServerParts {
  readonly limits: HttpLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly metrics: HttpMetrics;
  /** Called first at a shutdown: readiness must fail from then on. */
  onDraining(): void;
  /** Called when the port has closed: open streams must begin to end. */
  readonly onClosing?: (() => void) | undefined;
}

/** One port. `listen` once, then `run`. */
export interface HttpServer {
  /** Opens the port. Rejects with one sentence for the operator when it cannot. */
  listen(): Promise<{ readonly port: number }>;
  /** Serves until the signal aborts, then drains (R-07, docs/promises.md). Throws when the listener itself breaks. */
  run(signal: AbortSignal): Promise<void>;
}

/** The interval at which Node checks for overdue requests: the "+ 1 s" of R-08. */
const CHECK_MS = 1_000;

/** The API port: an HTTP/1.1 server with explicit limits, in front of the app. */
export function createHttpServer(options: HttpServerOptions, app: App, parts: HttpServerParts): HttpServer {
  const connections = new Connections(parts.limits, parts.metrics.rejected);
  registerConnections(parts.registry, connections);
  return servePort({ name: 'api', options, app, connections }, parts);
}

/** One of the two ports: its app and its connections. */
interface Port {
  readonly name: 'api' | 'metrics';
  readonly options: HttpServerOptions;
  readonly app: App;
  readonly connections: Connections;
}

/** Serves the API port or the metrics port. */
export function servePort({ name, options, app, connections }: Port, parts: HttpServerParts): HttpServer {
  const { limits, clock, metrics, onDraining, onClosing } = parts;
  const logger = parts.logger.child({ server: name });
  const takesUpgrade = (request: IncomingMessage): boolean =>
    app.takesUpgrade?.(request) === true && connections.currentOf(request.socket) === undefined;
  const { server, followFiles } = createServer(options, {
    limits,
    clock,
    logger,
    metrics,
    name,
    takesUpgrade,
    servesCluster: servesCluster(app),
  });
  const serve = ({ request, response }: InFlight): void => app.handle(request, response);
  const handle: App['handle'] = (request, response) => {
    // If `takesUpgrade` refuses an upgrade, Node drops the bytes right after the request and goes on in the middle of the next
    // request. So the connection closes with the answer to such a request.
    if (asksToUpgrade(request)) response.shouldKeepAlive = false;
    connections.came({ request, response }, serve);
  };
  server.on('request', handle);
  // The client may wait with its body until the chain has checked the head. The guard refuses unknown expectations.
  server.on('checkContinue', handle).on('checkExpectation', handle);
  server.on('upgrade', (request, duplex, head) => {
    const socket = duplex as Socket;
    const response = responseOn(socket, request);
    connections.came({ request, response }, () =>
      app.handle(request, response, { socket, head, reset: () => connections.reset(socket) }),
    );
  });
  if (options.tls) {
    server.on('connection', (socket: Socket) => connections.openedForTls(socket));
    server.on('secureConnection', (socket: Socket) => connections.secured(socket));
  } else server.on('connection', (socket: Socket) => connections.opened(socket));
  const nextId = createRequestIds(parts.random);
  server.on('connect', (request, socket) => {
    metrics.rejected('connect');
    logger.info(connectLine(request, nextId()), 'request');
    socket.on('error', () => {}); // Node has removed its own listeners, and without one a reset would end the process
    // The socket is destroyed one turn later, so that finished answers are sent first. Unfinished ones are lost, because Node no
    // longer manages this socket.
    setImmediate(() => socket.destroy());
  });
  server.on('clientError', refuseUnparsed({ limits, logger, nextId, metrics, connections, app }));
  return {
    listen: () => listen(server, options),
    run: async (signal) => {
      const outlasts = (request: IncomingMessage): boolean => app.outlasts?.(request) === true;
      const parts = { server, connections, clock, logger, options, outlasts, onDraining, onClosing };
      const draining = drain(parts, signal);
      await Promise.all([draining, followFiles(signal)]);
    },
  };
}

/** Whether the handler of this request limits the time of its body itself, so that Node's limit for a whole request must not apply. */
const isPacedElsewhere = (app: App, current: InFlight | undefined): boolean =>
  current !== undefined && app.pacesItself?.(current.request) === true;

/** Whether the port serves paths of the cluster: only these can be upgraded. */
const servesCluster = (app: App): boolean => app.takesUpgrade !== undefined;

const asksToUpgrade = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade !== undefined && headers.connection?.toLowerCase().includes('upgrade') === true;

/**
 * The response to an upgrade request. Node no longer manages its connection, so this answer is the last one: the connection closes
 * after it, unless it was upgraded (101).
 */
function responseOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  socket.on('error', () => socket.destroy());
  socket.on('drain', () => response.emit('drain'));
  response.on('finish', () => {
    if (response.statusCode !== 101) socket.destroySoon();
  });
  return response;
}

/** Handles bytes that are not a request, and requests that do not arrive in time. */
function refuseUnparsed({
  limits,
  logger,
  nextId,
  metrics,
  connections,
  app,
}: Pick<HttpServerParts, 'limits' | 'logger' | 'metrics'> & Pick<Port, 'connections' | 'app'> & { nextId(): string }): (
  fault: NodeJS.ErrnoException,
  socket: Duplex,
) => void {
  return (fault, duplex) => {
    const socket = duplex as Socket;
    // A failed TLS handshake ends up here, too, and cannot be answered.
    if (fault.code === 'ECONNRESET' || !connections.has(socket)) return void socket.destroy();
    if (fault.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isPacedElsewhere(app, connections.currentOf(socket))) return;
    const { rule, error } = toParserRefusal(
      { code: fault.code, bytesRead: socket.bytesRead },
      limits,
      servesCluster(app),
    );
    if (refuseBody(connections.currentOf(socket), error)) return metrics.rejected(rule);
    const answer = (): void => {
      const requestId = nextId();
      metrics.rejected(rule);
      if (!answerParserRefusal(socket, error, requestId)) return;
      metrics.refusedUnread(error.answer.code);
      const source = normaliseAddress(socket.remoteAddress ?? '');
      logger.info({ requestId, route: 'other', status: error.answer.code, rule, source }, 'request');
    };
    // A request that is late because its body is not read is answered at once: `afterAnswers` would wait for the request's own answer.
    if (fault.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connections.awaitsBodyAlone(socket)) answer();
    // Earlier requests are answered first (RFC 9112 9.3.2).
    else connections.afterAnswers(socket, answer);
  };
}

interface BuiltServer {
  readonly server: Server;
  /** Watches the TLS files of the port; does nothing on a port without TLS. */
  followFiles(signal: AbortSignal): Promise<void>;
}

function createServer(
  { tls }: HttpServerOptions,
  {
    limits,
    clock,
    logger,
    metrics,
    name,
    takesUpgrade,
    servesCluster,
  }: Pick<HttpServerParts, 'limits' | 'clock' | 'logger' | 'metrics'> &
    Pick<Port, 'name'> & { takesUpgrade(request: IncomingMessage): boolean; servesCluster: boolean },
): BuiltServer {
  const options: ServerOptions = {
    shouldUpgradeCallback: takesUpgrade,
    maxHeaderSize: headerBytesOf(limits, servesCluster),
    headersTimeout: limits.headersTimeoutMs,
    // Bodies that are read have their own timer; this limit ends requests whose body is not read.
    requestTimeout: limits.headersTimeoutMs + limits.bodyTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: CHECK_MS,
    requireHostHeader: false, // the guard refuses a missing Host, and its answer has a Status as body
  };
  if (!tls) return { server: boundLines(createPlainServer(options), limits), followFiles: async () => {} };
  const certificate = readServingCertificate(tls);
  const handshakeTimeout = limits.headersTimeoutMs;
  const followed = { clock, logger, reloads: metrics.tlsReloads, expirations: metrics.tlsExpirations, name };
  const server = createTlsServer({ ...options, ...certificate.options, handshakeTimeout });
  return {
    server: boundLines(server, limits),
    followFiles: (signal) => certificate.follow(server, followed, signal),
  };
}

/**
 * Limits the header lines in the parser to twice the guard's limit, because the guard counts the lines only when the header is complete.
 * Without this limit, 64 KiB of tiny lines in a header that never ends would take up to 1.75 MiB.
 */
function boundLines<Kind extends Server>(server: Kind, { maxHeaders }: Pick<HttpLimits, 'maxHeaders'>): Kind {
  server.maxHeadersCount = 2 * maxHeaders;
  return server;
}

/** Opens the port. Rejects with one sentence for the operator when it cannot. */
export function listen(
  server: Server,
  { address, port }: { readonly address?: string; readonly port: number },
): Promise<{ port: number }> {
  return new Promise((resolve, reject) => {
    const place = address === undefined ? `port ${port}` : `port ${port} of ${address}`;
    server.once('error', (error: NodeJS.ErrnoException) => reject(new Error(sentence(place, error), { cause: error })));
    server.listen({ port, ...(address === undefined ? {} : { host: address }) }, () => {
      server.removeAllListeners('error');
      resolve({ port: (server.address() as AddressInfo).port });
    });
  });
}

function sentence(place: string, error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `cannot listen on ${place}: another program is using it`;
    case 'EACCES':
      return `cannot listen on ${place}: the user of this process has no permission`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `cannot listen on ${place}: this machine has no such address`;
    default:
      return `cannot listen on ${place}: ${error.message}`;
  }
}
