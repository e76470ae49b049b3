import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { PROMETHEUS_PURPOSES, type PrometheusPurpose } from './prometheus.ts';

/** The buckets reach from a Prometheus beside us to the time limit of 10 s. */
const BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** `answered`; `shared`: an answer of the last seconds, or of a query in flight; `failed`: the metric has an error. */
const RESULTS = ['answered', 'shared', 'failed'] as const;

/** `gatehouse_prometheus_*`: metrics that callers asked for, and the requests to Prometheus for them. No label value comes from a request. */
export class PrometheusMetrics {
  readonly #results: Counter<'result'>;
  readonly #requests: Histogram<'purpose' | 'code'>;
  readonly #registry: Registry;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#registry = registry;
    this.#results = new Counter({
      name: 'gatehouse_prometheus_results_total',
      help: 'Metrics that callers asked for, by where their values came from.',
      labelNames: ['result'],
      registers,
    });
    this.#requests = new Histogram({
      name: 'gatehouse_prometheus_request_duration_seconds',
      help: 'Seconds that requests to Prometheus took, by purpose and class of the status (none: no answer).',
      labelNames: ['purpose', 'code'],
      buckets: BUCKETS,
      registers,
    });
    for (const result of RESULTS) this.#results.inc({ result }, 0);
    for (const purpose of PROMETHEUS_PURPOSES) this.#requests.zero({ purpose, code: '2xx' });
  }

  /** Shows the queries in flight and those that wait for their turn. To be called once. */
  showLoad(load: () => { readonly inFlight: number; readonly waiting: number }): void {
    new Gauge({
      name: 'gatehouse_prometheus_queries',
      help: 'Queries to Prometheus, in flight and waiting for their turn.',
      labelNames: ['state'],
      registers: [this.#registry],
      collect() {
        const { inFlight, waiting } = load();
        this.set({ state: 'in_flight' }, inFlight);
        this.set({ state: 'waiting' }, waiting);
      },
    });
  }

  counted(result: (typeof RESULTS)[number]): void {
    this.#results.inc({ result });
  }

  /** Counts a request to Prometheus; `status` is 0 when no answer came. */
  requested(purpose: PrometheusPurpose, status: number, seconds: number): void {
    this.#requests.observe({ purpose, code: status === 0 ? 'none' : `${Math.floor(status / 100)}xx` }, seconds);
  }
}
