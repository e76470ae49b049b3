import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { CALL_KINDS, type CallKind } from './call.ts';

/** Why a call was not passed on, or got no answer: the `reason` label of `gatehouse_gateway_refusals_total`. */
const REFUSALS = [
  'reserved_identity',
  'impersonate_header',
  'proxy_subresource',
  'header',
  'origin',
  'requests',
  'requests_per_user',
  'streams',
  'streams_per_user',
  'unreachable',
  'timeout',
  'away',
  'full',
  'credential',
  'impersonation',
  'not_chosen',
  'not_granted_yet',
  'not_granted',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** What the cluster says when we ask whether we may impersonate a caller's groups; `error`: it did not answer. */
const GROUP_DECISIONS = ['allow', 'deny', 'error'] as const;
type GroupDecision = (typeof GROUP_DECISIONS)[number];

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

/** The buckets reach from a small object of a nearby API server to the time limit of 60 s. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** `gatehouse_gateway_*`: calls that are passed on to the cluster. No label value comes from a request. */
export class GatewayMetrics {
  readonly #requests: Counter<'verb' | 'kind' | 'code'>;
  readonly #upstream: Histogram<'kind'>;
  readonly #bytes: Counter<'direction'>;
  readonly #refusals: Counter<'reason'>;
  readonly #groupReviews: Counter<'decision'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'gatehouse_gateway_requests_total',
      help: 'Calls to the paths of the cluster, by Kubernetes verb, kind of call and class of the status.',
      labelNames: ['verb', 'kind', 'code'],
      registers,
    });
    this.#upstream = new Histogram({
      name: 'gatehouse_gateway_upstream_duration_seconds',
      help: 'Seconds from sending a call to the cluster to the headers of its answer.',
      labelNames: ['kind'],
      buckets: BUCKETS,
      registers,
    });
    this.#bytes = new Counter({
      name: 'gatehouse_gateway_bytes_total',
      help: 'Bytes of bodies and upgraded connections, from the client (sent) and to it (received).',
      labelNames: ['direction'],
      registers,
    });
    this.#refusals = new Counter({
      name: 'gatehouse_gateway_refusals_total',
      help: 'Calls that were not passed on to the cluster, or got no answer from it, by reason.',
      labelNames: ['reason'],
      registers,
    });
    this.#groupReviews = new Counter({
      name: 'gatehouse_gateway_group_reviews_total',
      help: 'Checks at the cluster whether the groups of a caller may be impersonated, by its answer.',
      labelNames: ['decision'],
      registers,
    });
    for (const decision of GROUP_DECISIONS) this.#groupReviews.inc({ decision }, 0);
    for (const reason of REFUSALS) this.#refusals.inc({ reason }, 0);
    for (const direction of ['sent', 'received']) this.#bytes.inc({ direction }, 0);
  }

  /** `permitted`: a list or watch that was answered over the namespaces that the caller may see. */
  answered(verb: string, kind: CallKind | 'permitted', status: number): void {
    const known = VERBS.includes(verb) ? verb : 'other';
    this.#requests.inc({ verb: known, kind, code: `${Math.floor(status / 100)}xx` });
  }

  upstreamAnswered(kind: CallKind, ms: number): void {
    this.#upstream.observe({ kind }, ms / 1_000);
  }

  sent(bytes: number): void {
    this.#bytes.inc({ direction: 'sent' }, bytes);
  }

  received(bytes: number): void {
    this.#bytes.inc({ direction: 'received' }, bytes);
  }

  refused(reason: Refusal): void {
    this.#refusals.inc({ reason });
  }

  groupsReviewed(decision: GroupDecision): void {
    this.#groupReviews.inc({ decision });
  }
}

/** Shows the streams that are open, by kind. */
export function registerStreams(registry: Registry, open: (kind: CallKind) => number): void {
  new Gauge({
    name: 'gatehouse_gateway_streams',
    help: 'Open streams of the gateway, by kind of call.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      for (const kind of CALL_KINDS) this.set({ kind }, open(kind));
    },
  });
}

interface CallsInFlight {
  readonly requests: () => number;
  readonly upgrades: () => number;
  /** Calls that wait until the event loop is less busy. */
  readonly waiting: () => number;
}

/** Shows the calls in flight without streams, and the connections that are upgraded to another protocol. */
export function registerCallsInFlight(registry: Registry, { requests, upgrades, waiting }: CallsInFlight): void {
  new Gauge({
    name: 'gatehouse_gateway_requests_in_flight',
    help: 'Calls in flight to the cluster, without streams.',
    registers: [registry],
    collect() {
      this.set(requests());
    },
  });
  new Gauge({
    name: 'gatehouse_gateway_requests_waiting',
    help: 'Calls that wait while the event loop is busy with other requests; they have not been sent to the cluster yet.',
    registers: [registry],
    collect() {
      this.set(waiting());
    },
  });
  new Gauge({
    name: 'gatehouse_gateway_upgrades_in_flight',
    help: 'Open connections that the cluster has upgraded to another protocol, or is asked to.',
    registers: [registry],
    collect() {
      this.set(upgrades());
    },
  });
}
