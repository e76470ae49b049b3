import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** 1 ms to 5 s: one compare takes about 50 ms at cost 10, and nobody waits longer than 2 s. */
const SECONDS = [0.001, 0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5];

export interface PasswordMetrics {
  readonly queueLength: Gauge;
  readonly inFlight: Gauge;
  readonly queueWait: Histogram;
  readonly duration: Histogram;
  readonly rejections: Counter;
  /** Attempts that a full bucket turned away. */
  readonly throttled: Counter<'bucket'>;
}

export function createPasswordMetrics(registry: Registry): PasswordMetrics {
  const registers = [registry];
  return {
    queueLength: new Gauge({
      name: 'gatehouse_password_hash_queue_length',
      help: 'Password compares that wait for their turn.',
      registers,
    }),
    inFlight: new Gauge({
      name: 'gatehouse_password_hashes_in_flight',
      help: 'Password compares at work in the thread pool.',
      registers,
    }),
    queueWait: new Histogram({
      name: 'gatehouse_password_hash_queue_wait_seconds',
      help: 'How long a password compare waited for its turn.',
      buckets: SECONDS,
      registers,
    }),
    duration: new Histogram({
      name: 'gatehouse_password_hash_duration_seconds',
      help: 'How long a password compare took.',
      buckets: SECONDS,
      registers,
    }),
    rejections: new Counter({
      name: 'gatehouse_password_hash_rejections_total',
      help: 'Sign-ins turned away because the hash gate was full.',
      registers,
    }),
    throttled: new Counter({
      name: 'gatehouse_login_throttled_total',
      help: 'Sign-ins turned away because of earlier failures.',
      labelNames: ['bucket'],
      registers,
    }),
  };
}

/** Counts what became of each change of the users file: `ok` or `invalid`. */
export const createReloadCounter = (registry: Registry): Counter<'result'> =>
  new Counter({
    name: 'gatehouse_users_file_reloads_total',
    help: 'Changes of the users file, by whether they were taken.',
    labelNames: ['result'],
    registers: [registry],
  });
