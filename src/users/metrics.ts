import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { BucketName } from './login-throttle.ts';
import { type HashCosts, type HashKind, kindOfHash } from './password-hash.ts';
import type { UserList } from './user.ts';
import type { UserConflicts } from './user-directory.ts';

/** 1 ms to 5 s: one compare takes about 50 ms at cost 10, and an attempt waits at most 2 s for it. */
const SECONDS = [0.001, 0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5];

const BUCKETS: readonly BucketName[] = ['user', 'address', 'known_good'];

export type PasswordMetrics = ReturnType<typeof createPasswordMetrics>;

export function createPasswordMetrics(registry: Registry) {
  const registers = [registry];
  const throttled = new Counter({
    name: 'gatehouse_login_throttled_total',
    help: 'Sign-ins turned away because of earlier failures.',
    labelNames: ['bucket'],
    registers,
  });
  // Each series starts at 0: Prometheus sees no increase of a series that begins at 1.
  for (const bucket of BUCKETS) throttled.inc({ bucket }, 0);
  return {
    throttled,
    queueLength: new Gauge({
      name: 'gatehouse_password_hash_queue_length',
      help: 'Password compares that wait in the queue.',
      registers,
    }),
    inFlight: new Gauge({
      name: 'gatehouse_password_hashes_in_flight',
      help: 'Password compares that run in the thread pool.',
      registers,
    }),
    queueWait: new Histogram({
      name: 'gatehouse_password_hash_queue_wait_seconds',
      help: 'How long a password compare waited in the queue.',
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
      help: 'Sign-ins turned away because the queue of password compares was full, or the wait too long.',
      registers,
    }),
  };
}

const KINDS: readonly HashKind[] = ['write_cost', 'other_cost', 'unfit', 'none'];

/**
 * Counts users by the kind of their hash, at each scrape. A hash that costs more or less than the dummy hash reveals by timing
 * that its user exists.
 */
export function registerHashMetric(registry: Registry, costs: HashCosts, users: UserList): void {
  new Gauge({
    name: 'gatehouse_users',
    help: 'Users, by their password hash: write_cost, other_cost, unfit or none.',
    labelNames: ['password_hash'],
    registers: [registry],
    collect() {
      for (const kind of KINDS) this.set({ password_hash: kind }, 0);
      for (const user of users.all()) this.inc({ password_hash: kindOfHash(user.passwordHash, costs) });
    },
  });
}

/** Counts the changes of the users file by result: `ok` or `invalid`. */
export function createReloadCounter(registry: Registry): Counter<'result'> {
  const counter = new Counter({
    name: 'gatehouse_users_file_reloads_total',
    help: 'Changes of the users file, by whether the new content is used (ok) or not (invalid).',
    labelNames: ['result'],
    registers: [registry],
  });
  for (const result of ['ok', 'invalid']) counter.inc({ result }, 0);
  return counter;
}

/** Counts, at each scrape, the users who are ignored and the e-mails that nobody can sign in with. */
export function registerUserConflicts(registry: Registry, users: UserConflicts): void {
  new Gauge({
    name: 'gatehouse_users_refused',
    help: 'Users of a source who are ignored: the name is reserved, or an earlier source has it.',
    registers: [registry],
    collect() {
      this.set(users.refused());
    },
  });
  new Gauge({
    name: 'gatehouse_user_emails_shared',
    help: 'E-mails that more than one user has, without regard to case: nobody can sign in with them.',
    registers: [registry],
    collect() {
      this.set(users.sharedEmails());
    },
  });
}
