import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { StatusError } from '../status-error.ts';
import type { Operation } from './document-kind.ts';
import { LOGS } from './kinds/log-kind.ts';
import { STORE_PURPOSES, type StorePurpose } from './store/store-requests.ts';

/** The values of the `result` label of `gatehouse_log_queries_total` for queries without an answer, by status. */
const FAILURES: Readonly<Record<number, string>> = {
  429: 'overloaded',
  502: 'refused',
  503: 'unavailable',
  504: 'timeout',
};
const RESULTS = ['answered', ...Object.values(FAILURES), 'other'];

/** The buckets reach from a store in memory to the time limit of 30 s. */
const BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** `gatehouse_log_*`: log queries, and the requests to the store for them. No label value comes from a request. */
export class DocumentMetrics {
  readonly #queries: Counter<'operation' | 'result'>;
  readonly #requests: Histogram<'purpose' | 'code'>;
  readonly #cut: Counter;
  readonly #registry: Registry;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#registry = registry;
    this.#queries = new Counter({
      name: 'gatehouse_log_queries_total',
      help: 'Log queries that reached the store or the reviews, by operation and result.',
      labelNames: ['operation', 'result'],
      registers,
    });
    this.#requests = new Histogram({
      name: 'gatehouse_log_store_request_duration_seconds',
      help: 'Seconds that requests to the log store took, by purpose and class of the status (none: no answer).',
      labelNames: ['purpose', 'code'],
      buckets: BUCKETS,
      registers,
    });
    this.#cut = new Counter({
      name: 'gatehouse_log_exports_cut_total',
      help: 'Exports that were cut off after they had begun, because the store failed.',
      registers,
    });
    for (const operation of LOGS.operations) for (const result of RESULTS) this.#queries.inc({ operation, result }, 0);
    for (const purpose of STORE_PURPOSES) this.#requests.zero({ purpose, code: '2xx' });
  }

  /** Shows the number of queries in flight. To be called once. */
  showInFlight(count: () => number): void {
    new Gauge({
      name: 'gatehouse_log_queries_in_flight',
      help: 'Log queries in flight, exports until their end.',
      registers: [this.#registry],
      collect() {
        this.set(count());
      },
    });
  }

  answered(operation: Operation): void {
    this.#queries.inc({ operation, result: 'answered' });
  }

  failed(operation: Operation, error: unknown): void {
    const code = error instanceof StatusError ? error.answer.code : 0;
    this.#queries.inc({ operation, result: FAILURES[code] ?? 'other' });
  }

  /** Counts an export that was broken off after it had begun. */
  cut(): void {
    this.#cut.inc();
  }

  /** Counts a request to the store; `status` is 0 when no answer came. */
  requested(purpose: StorePurpose, status: number, seconds: number): void {
    this.#requests.observe({ purpose, code: status === 0 ? 'none' : `${Math.floor(status / 100)}xx` }, seconds);
  }
}
