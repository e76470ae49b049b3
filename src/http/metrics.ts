import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type Exchange, METHODS } from './exchange.ts';
import type { Health } from './health.ts';
import { WATCH_ENDS, type WatchEnd } from './watch/watch-end.ts';

const COUNTED_METHODS: ReadonlySet<string> = new Set([...METHODS, 'OPTIONS']);

/** From 1 ms, an answer from memory, to 30 s, the time limit of answers. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 10, 30];

/** From 1 ms, an update of a few watches, to 10 s, an update of 10,000 on a slow machine; the promise is 1 s. */
const FANOUT_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** The rules and limits that turn requests and connections away: the values of `reason` in the metric. */
const REJECTIONS = [
  'version',
  'headers',
  'host',
  'authorization',
  'transfer_encoding',
  'expect',
  'target',
  'header_bytes',
  'header_time',
  'chunk_extension',
  'parser',
  'connect',
  'pipelined',
  'body_size',
  'body_time',
  'in_flight_sign-in',
  'in_flight_other',
  'connections',
  'connections_per_address',
  'watches',
  'watches_per_user',
  'log_queries',
  'log_queries_per_user',
] as const;

export type Rejection = (typeof REJECTIONS)[number];

/** The headers in which a trusted proxy may send the caller's address: the values of `authentication.trustedProxies[].header`. */
const FORWARDED_HEADERS = ['X-Forwarded-For', 'X-Real-IP', 'X-Client-IP'];

/** The metrics of this folder. Labels are route templates and fixed words, never input. */
export interface HttpMetrics {
  /** Counts an answer, when it has ended. */
  answered(exchange: Exchange, seconds: number): void;
  /** Counts an answer to bytes that were not a request. */
  refusedUnread(status: number): void;
  /** Counts a request or connection that this rule or limit has turned away. */
  rejected(reason: Rejection): void;
  /** Counts a header of a trusted proxy that contains no address. */
  forwardedUnreadable(header: string): void;
  /** Counts a request that needs a bearer token and has none, or one that does not look like a token. */
  bearerRefused(result: 'absent' | 'malformed'): void;
  /** Counts changes of the TLS files of a port: `ok` or `invalid`. */
  readonly tlsReloads: Counter<'server' | 'result'>;
  /** When the certificate of a port expires, in seconds since 1970. */
  readonly tlsExpirations: Gauge<'server'>;
  watchEnded(end: WatchEnd): void;
  /** Records that it took `ms` from finding changes until they were sent to all watches whose clients read. */
  watchesUpdated(ms: number): void;
}

/** Creates the metrics of all ports; to be called once for each registry. `bearers` is the counter of token verifications. */
export function createHttpMetrics(registry: Registry, bearers: Counter<'result'>): HttpMetrics {
  const counter = (name: string, help: string, labelNames: string[]): Counter =>
    new Counter({ name, help, labelNames, registers: [registry] });
  const durations = durationHistogram(registry);
  const requests = counter('gatehouse_http_requests_total', 'Answers, refusals included.', ['method', 'route', 'code']);
  const rejections = counter('gatehouse_http_rejections_total', 'Requests and connections turned away.', ['reason']);
  for (const reason of REJECTIONS) rejections.inc({ reason }, 0); // Prometheus sees no increase of a series that begins at 1
  const unreadable = counter(
    'gatehouse_forwarded_headers_unreadable_total',
    'Headers of trusted proxies that contain no address.',
    ['header'],
  );
  for (const header of FORWARDED_HEADERS) unreadable.inc({ header }, 0);
  const bytes = counter('gatehouse_http_response_bytes_total', 'Bytes of answer bodies.', ['route', 'encoding']);
  const reloads = 'Changes of the TLS files of a port, by whether the new files are used (ok) or not (invalid).';
  const tlsReloads = counter('gatehouse_tls_reloads_total', reloads, ['server', 'result']);
  const tlsExpirations = expirationGauge(registry);
  const watchEnds = counter('gatehouse_watches_ended_total', 'Watches that ended, by reason.', ['end']);
  for (const end of WATCH_ENDS) watchEnds.inc({ end }, 0);
  const fanout = fanoutHistogram(registry);
  const seriesOf = createSeries({ durations, requests, bytes });
  return {
    tlsReloads,
    tlsExpirations,
    answered: (exchange, seconds) => {
      const found = seriesOf(exchange);
      found.duration.observe(seconds);
      found.count.inc();
      if (exchange.bodyBytes > 0) found.bytes.inc(exchange.bodyBytes);
    },
    refusedUnread: (status) => requests.labels('other', 'other', String(status)).inc(),
    rejected: (reason) => rejections.labels(reason).inc(),
    forwardedUnreadable: (header) => unreadable.labels(header).inc(),
    watchEnded: (end) => watchEnds.inc({ end }),
    watchesUpdated: (ms) => fanout.observe(ms / 1_000),
    bearerRefused: (result) => bearers.labels(result).inc(),
  };
}

interface Series {
  readonly duration: Histogram.Internal<string>;
  readonly count: Counter.Internal;
  readonly bytes: Counter.Internal;
}

interface AnswerMetrics {
  readonly durations: Histogram<'method' | 'route'>;
  readonly requests: Counter;
  readonly bytes: Counter;
}

/** Finding a series by its labels costs more than counting in it. So this keeps one entry for each series that was found. */
function createSeries({ durations, requests, bytes }: AnswerMetrics): (exchange: Exchange) => Series {
  const series = new Map<string, Series>();
  return ({ request, route, status, coding }) => {
    const method = COUNTED_METHODS.has(request.method ?? '') ? (request.method as string) : 'other';
    const template = route?.template ?? 'other';
    const key = `${method} ${template} ${status} ${coding}`;
    const known = series.get(key);
    if (known) return known;
    const made = {
      duration: durations.labels(method, template),
      count: requests.labels(method, template, String(status)),
      bytes: bytes.labels(template, coding),
    };
    series.set(key, made);
    return made;
  };
}

const durationHistogram = (registry: Registry): AnswerMetrics['durations'] =>
  new Histogram({
    name: 'gatehouse_http_request_duration_seconds',
    help: 'Time from the request to the last byte of its answer, or to the first byte of a stream.',
    labelNames: ['method', 'route'],
    buckets: BUCKETS,
    registers: [registry],
  });

const expirationGauge = (registry: Registry): HttpMetrics['tlsExpirations'] =>
  new Gauge({
    name: 'gatehouse_tls_certificate_expiration_timestamp_seconds',
    help: 'When the serving certificate of a port, or the first one of its chain, expires, in seconds since 1970.',
    labelNames: ['server'],
    registers: [registry],
  });

const fanoutHistogram = (registry: Registry): Histogram =>
  new Histogram({
    name: 'gatehouse_watch_fanout_seconds',
    help: 'Time from finding changes until they have been sent to all watches whose clients read.',
    buckets: FANOUT_BUCKETS,
    registers: [registry],
  });

/** Shows each check of /readyz: 1 while it succeeds. A check that fails and is excused has no series. */
export function registerReadiness(registry: Registry, health: Health): void {
  new Gauge({
    name: 'gatehouse_readiness_check',
    help: 'Checks of /readyz: 1 while the check succeeds.',
    labelNames: ['check'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { name, holds } of health.readiness()) this.set({ check: name }, holds ? 1 : 0);
    },
  });
}

/** Shows the requests in flight, by class. */
export function registerInFlight(
  registry: Registry,
  seats: Readonly<Record<string, { readonly taken: number }>>,
): void {
  new Gauge({
    name: 'gatehouse_http_requests_in_flight',
    help: 'Requests whose answers are being made, by class.',
    labelNames: ['class'],
    registers: [registry],
    collect() {
      for (const [name, { taken }] of Object.entries(seats)) this.set({ class: name }, taken);
    },
  });
}

/** Shows the number of requests that wait for their user's turn. */
export function registerWaiting(registry: Registry, queue: { readonly waiting: number }): void {
  new Gauge({
    name: 'gatehouse_http_requests_waiting',
    help: "Requests that wait for their user's turn, while the event loop is busy.",
    registers: [registry],
    collect() {
      this.set(queue.waiting);
    },
  });
}

/** Shows the number of open connections. */
export function registerConnections(registry: Registry, connections: { readonly size: number }): void {
  new Gauge({
    name: 'gatehouse_http_connections',
    help: 'Open connections to the API port.',
    registers: [registry],
    collect() {
      this.set(connections.size);
    },
  });
}

/** Shows the number of open watches. */
export function registerWatches(registry: Registry, watches: { readonly taken: number }): void {
  new Gauge({
    name: 'gatehouse_watches',
    help: 'Open watches of lists.',
    registers: [registry],
    collect() {
      this.set(watches.taken);
    },
  });
}
