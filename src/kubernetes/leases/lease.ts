import type { Logger } from '../../observability/logger.ts';
import { unlessAborted } from '../../runtime/abort.ts';
import { type Clock, withTimeLimit } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import type { Random } from '../../runtime/random.ts';
import { isConflict } from '../client/api-client.ts';
import type { KubernetesObject } from '../object.ts';
import type { ClusterObjects, ObjectCollection } from '../objects/cluster-objects.ts';
import { heldBy, type LeaseRecord, released, toLeaseRecord } from './lease-record.ts';

/**
 * The holder stops this long after its last successful renewal: client-go's `RenewDeadline`. Others wait for 15 s, so the
 * work that the holder has begun has 5 s to end.
 */
const RENEW_DEADLINE_MS = 10_000;
/** The time between two attempts: client-go's `RetryPeriod`. */
const RETRY_MS = 2_000;
/** A candidate waits longer by up to this factor, so that not all of them come at once: client-go's `JitterFactor`. */
const JITTER = 1.2;
/** The time limit of one attempt. If its requests hang, there is time for another attempt before the holder must stop. */
const ATTEMPT_MS = RENEW_DEADLINE_MS / 2;
/** The time limit of the release when the process ends. If it fails, the next holder gets the lease a little later. */
const RELEASE_MS = 2_000;

export interface LeaseOptions {
  readonly name: string;
  readonly namespace: string;
  /** Unique for each process: not even a restarted one may use it again. */
  readonly identity: string;
}

export interface LeaseParts {
  readonly cluster: { objects(collection: ObjectCollection): ClusterObjects };
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Elects one of several processes by a Lease object of Kubernetes. At most one of them is the holder at a time, unless the
 * clock of one runs a third slower than another's. It never compares the times of two clocks.
 */
export interface Lease {
  /**
   * Whether this process holds the lease now. True for 10 s after each renewal; others wait at least 15 s. Call it right
   * before each piece of work, and end that within the remaining 5 s. It makes no request.
   */
  isHolder(): boolean;
  /** Tries to get the lease and keep it until the signal aborts, then releases it. Needs the rights to get, create, update. */
  run(signal: AbortSignal): Promise<void>;
}

export function createLease(options: LeaseOptions, parts: LeaseParts): Lease {
  return new ClusterLease(options, parts);
}

/** A moment by both clocks. */
interface Instant {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

class ClusterLease implements Lease {
  readonly #options: LeaseOptions;
  readonly #parts: LeaseParts;
  readonly #objects: ClusterObjects;
  readonly #logger: Logger;
  readonly #failure: LastingFailure;
  /** When we sent the last successful renewal. */
  #renewed: Instant | undefined;
  /** The object as we last wrote it, if we know that. With it a renewal needs no read. */
  #written: KubernetesObject | undefined;
  /** The last change of the lease that we saw, and when. */
  #observed: { readonly mark: string; readonly atMs: number } | undefined;
  #hasTried = false;
  #loggedHolder = false;

  constructor(options: LeaseOptions, parts: LeaseParts) {
    const { name, namespace, identity } = options;
    this.#options = options;
    this.#parts = parts;
    this.#objects = parts.cluster.objects({
      group: 'coordination.k8s.io',
      version: 'v1',
      resource: 'leases',
      kind: 'Lease',
      namespace,
    });
    this.#logger = parts.logger.child({ lease: name, identity });
    this.#failure = new LastingFailure(parts.clock, this.#logger);
  }

  isHolder(): boolean {
    const renewed = this.#renewed;
    if (!renewed) return false;
    // While a machine is suspended, its monotonic clock may stand still.
    const { monotonicMs, wallMs } = this.#now();
    return monotonicMs - renewed.monotonicMs < RENEW_DEADLINE_MS && wallMs - renewed.wallMs < RENEW_DEADLINE_MS;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#parts;
    while (!signal.aborted) {
      await this.#attempt(signal);
      this.#logChange();
      const spread = this.isHolder() ? 1 : 1 + JITTER * random.fraction();
      await clock.sleep(RETRY_MS * spread, signal);
    }
    this.#renewed = undefined;
    this.#logChange();
    await this.#release();
  }

  async #attempt(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const sent = this.#now();
    try {
      const limits = { ms: ATTEMPT_MS, signals: [signal] };
      const written = await withTimeLimit(clock, limits, (limited) => unlessAborted(this.#write(limited), limited));
      this.#written = written;
      this.#renewed = written && sent;
      this.#failure.over({}, 'the lease can be read and written again');
    } catch (error) {
      this.#written = undefined;
      // After a conflict (another candidate was faster, or somebody changed the object) the next attempt reads the holder.
      if (!signal.aborted && !isConflict(error))
        this.#failure.failed({ err: error }, 'the lease can be neither read nor written');
    }
  }

  /** Returns the written object, or `undefined` if somebody else holds the lease. Writes nothing after `signal` aborts. */
  async #write(signal: AbortSignal): Promise<KubernetesObject | undefined> {
    const { name, identity } = this.#options;
    const written = this.#written; // replacing it fails with a conflict if somebody has taken the lease since
    const stored = written ?? (await this.#objects.get(name));
    if (!written && stored && !this.#isFree(toLeaseRecord(stored))) return undefined;
    if (signal.aborted) throw new Error('the answer came too late');
    const spec = heldBy(identity, stored, this.#now().wallMs);
    this.#hasTried = true;
    return stored ? this.#objects.replace({ ...stored, spec }) : this.#objects.create({ metadata: { name }, spec });
  }

  /**
   * Whether we may take the lease: we hold it, nobody does, or we have seen no change of it for its whole duration. If we
   * held it too long ago, we must wait for that duration as well. Otherwise a process that gets no answers could keep the
   * lease from the others.
   */
  #isFree({ holder, durationMs, mark }: LeaseRecord): boolean {
    const nowMs = this.#now().monotonicMs;
    if (this.#observed?.mark !== mark) this.#observed = { mark, atMs: nowMs };
    const isOurs = holder === this.#options.identity && this.isHolder();
    return isOurs || holder === '' || nowMs - this.#observed.atMs >= durationMs;
  }

  /** Reads the object first, because the answer to our last write may be lost. */
  async #release(): Promise<void> {
    if (!this.#hasTried) return;
    const { name, identity } = this.#options;
    const { clock } = this.#parts;
    const giveBack = async (): Promise<void> => {
      const stored = await this.#objects.get(name);
      if (!stored || toLeaseRecord(stored).holder !== identity) return;
      await this.#objects.replace({ ...stored, spec: released(stored, this.#now().wallMs) });
    };
    try {
      await withTimeLimit(clock, { ms: RELEASE_MS, signals: [] }, (limited) => unlessAborted(giveBack(), limited));
    } catch (error) {
      this.#logger.info({ err: error }, 'the lease was not given back: others get it when it expires');
    }
  }

  #logChange(): void {
    const isHolder = this.isHolder();
    if (isHolder === this.#loggedHolder) return;
    this.#loggedHolder = isHolder;
    this.#logger.info({}, isHolder ? 'this process holds the lease' : 'this process no longer holds the lease');
  }

  #now(): Instant {
    const { clock } = this.#parts;
    return { monotonicMs: clock.monotonic(), wallMs: clock.now() };
  }
}
