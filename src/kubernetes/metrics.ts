import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { FAILURE_KINDS, type FailureKind } from './reflector/failure.ts';

/** Our own calls to the API server: from a millisecond (a review in the same network) to the time limits. */
const REQUEST_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** A list of 10 nodes takes some milliseconds, one of 15,000 over a slow line half a minute. */
const LIST_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Requests with our own rights. An alert watches for their 403s, which last until somebody acts. So they start at 0. */
const OWN_PURPOSES = ['objects', 'secrets'];

/** `gatehouse_cluster_*`: our requests to the API server. A request without an answer has the code `error`. */
export class RequestMetrics {
  readonly #requests: Counter<'purpose' | 'code'>;
  readonly #duration: Histogram<'purpose'>;

  constructor(registry: Registry, connections: () => number) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'gatehouse_cluster_requests_total',
      help: 'Requests to the Kubernetes API server, by purpose and status code.',
      labelNames: ['purpose', 'code'],
      registers,
    });
    for (const purpose of OWN_PURPOSES) this.#requests.inc({ purpose, code: '403' }, 0);
    this.#duration = new Histogram({
      name: 'gatehouse_cluster_request_duration_seconds',
      help: 'Seconds from a request to the Kubernetes API server to the headers of its answer.',
      labelNames: ['purpose'],
      buckets: REQUEST_BUCKETS,
      registers,
    });
    new Gauge({
      name: 'gatehouse_cluster_connections',
      help: 'Open connections to the Kubernetes API server.',
      registers,
      collect() {
        this.set(connections());
      },
    });
  }

  answered(purpose: string, status: number, seconds: number): void {
    this.#requests.inc({ purpose, code: String(status) });
    this.#duration.observe({ purpose }, seconds);
  }

  failed(purpose: string): void {
    this.#requests.inc({ purpose, code: 'error' });
  }
}

/** 1 ms to 10 s: the watch usually brings a write within milliseconds; R-06 allows 5 s. */
const LAG_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** How late other replicas see a change of ours, measured by how late our own watch shows it. */
export const createSecretLag = (registry: Registry): Histogram =>
  new Histogram({
    name: 'gatehouse_session_record_lag_seconds',
    help: 'Seconds from a change of a session record until our own watch brought it, as it does to the other replicas.',
    buckets: LAG_BUCKETS,
    registers: [registry],
  });

/** What a reflector is doing; exactly one at a time. */
const REFLECTOR_STATES = ['listing', 'watching', 'backing_off'] as const;
export type ReflectorState = (typeof REFLECTOR_STATES)[number];
const RELIST_REASONS = ['expired', 'too_large_version', 'stream_error', 'restored', 'self_check'] as const;
export type RelistReason = (typeof RELIST_REASONS)[number];
const DROP_REASONS = ['stale', 'unknown_type', 'no_metadata', 'malformed'] as const;
export type DropReason = (typeof DROP_REASONS)[number];
const CHECK_RESULTS = ['match', 'mismatch', 'skipped'] as const;
export type CheckResult = (typeof CHECK_RESULTS)[number];

/** What the metrics read from a reflector when they are collected. */
export interface ReflectorGauges {
  readonly state: ReflectorState;
  readonly objects: number;
  readonly epoch: number;
  hasSynced(): boolean;
  /** Whether the cluster refuses us the right to the collection. */
  isForbidden(): boolean;
  stalenessMs(): number;
}

/** The metrics of one reflector, its `resource` label bound. */
export type ReflectorMetrics = ReturnType<ReflectorMetricsFamily['of']>;

/** `gatehouse_reflector_*` and `gatehouse_cache_*` of all reflectors of a process. */
export class ReflectorMetricsFamily {
  readonly #counters;
  readonly #listDuration: Histogram<'resource'>;
  readonly #reflectors = new Map<string, ReflectorGauges>();
  /** Functions that return the age of data, by the name of the data. Some of the data has no reflector. */
  readonly #stalenessMs = new Map<string, () => number | undefined>();

  constructor(registry: Registry) {
    this.#counters = createCounters(registry);
    this.#listDuration = new Histogram({
      name: 'gatehouse_reflector_list_duration_seconds',
      help: 'Seconds that a complete list took.',
      labelNames: ['resource'],
      buckets: LIST_BUCKETS,
      registers: [registry],
    });
    createGauges(registry, this.#reflectors);
    createStalenessGauge(registry, this.#stalenessMs);
  }

  /** Exposes the age of this data under this name. While the age is `undefined`, there is no series. */
  exposeStaleness(resource: string, stalenessMs: () => number | undefined): void {
    this.#stalenessMs.set(resource, stalenessMs);
  }

  /** `isOptional`: the age is not exposed while the cluster refuses us the right to the collection. */
  of(resource: string, { isOptional = false }: { readonly isOptional?: boolean | undefined } = {}) {
    const { lists, relists, surprises, watches, events, dropped, selfChecks } = this.#counters;
    startAtZero(this.#counters, resource);
    const byType = new Map(EVENT_TYPES.map((type) => [type, events.labels(resource, type)]));
    const otherType = events.labels(resource, 'other'); // the type comes from the wire, so it must not become a label
    return {
      expose: (gauges: ReflectorGauges): void => {
        this.#reflectors.set(resource, gauges);
        const isHidden = (): boolean => isOptional && gauges.isForbidden();
        this.exposeStaleness(resource, () => (isHidden() ? undefined : gauges.stalenessMs()));
      },
      listed: (result: 'ok' | FailureKind, seconds: number): void => {
        lists.inc({ resource, result });
        if (result === 'ok') this.#listDuration.observe({ resource }, seconds);
      },
      relisted: (reason: RelistReason): void => relists.inc({ resource, reason }),
      surprised: (count: number): void => surprises.inc({ resource }, count),
      watchEnded: (failure: FailureKind): void => watches.inc({ resource, end: toWatchEnd(failure) }),
      event: (type: string): void => (byType.get(type) ?? otherType).inc(),
      dropped: (reason: DropReason): void => dropped.inc({ resource, reason }),
      selfChecked: (result: CheckResult): void => selfChecks.inc({ resource, result }),
    };
  }
}

const nothing = (): void => {};

/** For a reflector whose numbers are exposed elsewhere. */
export const UNMEASURED: ReflectorMetrics = {
  expose: nothing,
  listed: nothing,
  relisted: nothing,
  surprised: nothing,
  watchEnded: nothing,
  event: nothing,
  dropped: nothing,
  selfChecked: nothing,
};

const WATCH_ENDS = [
  'closed',
  'quiet',
  'expired',
  'refused',
  'reset',
  'throttled',
  'unreadable',
] as const satisfies FailureKind[];

/** Every other end of a watch counts as `refused`. */
const toWatchEnd = (failure: FailureKind): (typeof WATCH_ENDS)[number] =>
  WATCH_ENDS.find((end) => end === failure) ?? 'refused';

const EVENT_TYPES = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'];

function createCounters(registry: Registry) {
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> =>
    new Counter({ name, help, labelNames, registers: [registry] });
  return {
    lists: counter('gatehouse_reflector_lists_total', 'Lists, by how they ended.', ['resource', 'result']),
    relists: counter('gatehouse_reflector_relists_total', 'Lists after the first, by reason.', ['resource', 'reason']),
    surprises: counter('gatehouse_reflector_relist_surprises_total', 'Objects that only a relist revealed.', [
      'resource',
    ]),
    watches: counter('gatehouse_reflector_watches_total', 'Watches, by how they ended.', ['resource', 'end']),
    events: counter('gatehouse_reflector_watch_events_total', 'Watch events, by type.', ['resource', 'type']),
    dropped: counter('gatehouse_reflector_dropped_events_total', 'Watch events and listed objects not applied.', [
      'resource',
      'reason',
    ]),
    selfChecks: counter('gatehouse_cache_self_checks_total', 'Comparisons of the cache with the cluster.', [
      'resource',
      'result',
    ]),
  };
}

/** Creates each series at 0. Prometheus sees no increase of a series that begins at 1. */
function startAtZero(counters: ReturnType<typeof createCounters>, resource: string): void {
  const { lists, relists, surprises, watches, events, dropped, selfChecks } = counters;
  surprises.inc({ resource }, 0);
  for (const result of ['ok', ...FAILURE_KINDS]) lists.inc({ resource, result }, 0);
  for (const reason of RELIST_REASONS) relists.inc({ resource, reason }, 0);
  for (const end of WATCH_ENDS) watches.inc({ resource, end }, 0);
  for (const type of [...EVENT_TYPES, 'other']) events.inc({ resource, type }, 0);
  for (const reason of DROP_REASONS) dropped.inc({ resource, reason }, 0);
  for (const result of CHECK_RESULTS) selfChecks.inc({ resource, result }, 0);
}

function createStalenessGauge(registry: Registry, all: ReadonlyMap<string, () => number | undefined>): void {
  new Gauge({
    name: 'gatehouse_cache_staleness_seconds',
    help: 'Seconds since the last proof that the data is current.',
    labelNames: ['resource'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [resource, stalenessMs] of all) {
        const ms = stalenessMs();
        if (ms !== undefined) this.set({ resource }, ms / 1000);
      }
    },
  });
}

function createGauges(registry: Registry, reflectors: ReadonlyMap<string, ReflectorGauges>): void {
  const gauge = (name: string, help: string, value: (of: ReflectorGauges) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['resource'],
      registers: [registry],
      collect() {
        for (const [resource, reflector] of reflectors) this.set({ resource }, value(reflector));
      },
    });
  };
  gauge('gatehouse_cache_objects', 'Objects in the cache.', (of) => of.objects);
  gauge('gatehouse_cache_synced', 'Whether the first complete list is in the cache.', (of) => Number(of.hasSynced()));
  gauge('gatehouse_reflector_forbidden', 'Whether the cluster forbids us to list and watch it.', (of) =>
    Number(of.isForbidden()),
  );
  gauge('gatehouse_cache_epoch', 'Spans in which resourceVersions do not fall.', (of) => of.epoch);
  new Gauge({
    name: 'gatehouse_reflector_state',
    help: 'What the reflector is doing; exactly one state is 1.',
    labelNames: ['resource', 'state'],
    registers: [registry],
    collect() {
      for (const [resource, reflector] of reflectors) {
        for (const state of REFLECTOR_STATES) {
          this.set({ resource, state }, Number(reflector.state === state));
        }
      }
    },
  });
}
