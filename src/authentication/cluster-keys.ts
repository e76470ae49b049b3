import type { Registry } from 'prom-client';
import type { CompactJws } from '../oauth/tokens/compact-jws.ts';
import type { Logger } from '../observability/logger.ts';
import { type Clock, Waiting } from '../runtime/clock.ts';
import { FairSlots } from '../runtime/fair-slots.ts';
import { registerClusterKeys } from './metrics.ts';
import { isSignedByOne, type PublishedKeys, parsePublishedKeys } from './published-keys.ts';
import type { SignatureVerdict } from './service-account-tokens.ts';

export interface ClusterKeyParts {
  /** The JWK set that the cluster publishes, parsed from JSON. Rejects when it cannot be read. */
  read(signal: AbortSignal): Promise<unknown>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** Keys are seldom replaced, and published before they sign. */
const EVERY_MS = 60_000;
const RETRY_MS = 10_000;
/**
 * A token whose key name is unknown makes us read the keys again, but not more often than this, because junk tokens
 * have such names. A token signed at the moment when its key is published is refused for at most this time.
 */
const FRESH_MS = 5_000;
/**
 * The most tokens with an unknown key that may wait for the keys to be read, which takes 3 s at most: an eighth of the
 * requests in flight.
 */
const MOST_WAITING = 64;

/**
 * The keys that the cluster signs service account tokens with, followed as it publishes them
 * (https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery).
 * When they cannot be read, the last good keys stay in use, however old: they only keep junk away, and the cluster
 * itself decides.
 */
export class ClusterKeys {
  readonly #parts: ClusterKeyParts;
  readonly #waiting = new Set<() => void>();
  readonly #slow = new SlowSignatures();
  #published: PublishedKeys | undefined;
  /** The last document that was read. */
  #text = '';
  /** When the last attempt to read and the last good one began, by the monotonic clock. */
  #triedAt = Number.NEGATIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #isFailing = false;
  readonly #pause: Waiting;

  constructor(parts: ClusterKeyParts) {
    this.#parts = parts;
    this.#pause = new Waiting(parts.clock);
    registerClusterKeys(parts.registry, () => this.#published?.keys.size ?? 0);
  }

  /**
   * Checks the signature of a token from `source`: at once when the key is known and quick, in turn when it is slow,
   * and after the keys were read again when it is unknown. Never asks the cluster about the token.
   */
  check(jws: CompactJws, source: string): SignatureVerdict | Promise<SignatureVerdict> {
    if (!this.#published) return 'unproven';
    const verdict = this.#judge(jws, source);
    if (verdict !== undefined) return verdict;
    const wasTriedLately = this.#parts.clock.monotonic() - this.#triedAt < FRESH_MS;
    if (!this.#isReading && wasTriedLately) return this.#unknown();
    if (this.#waiting.size >= MOST_WAITING) return 'overloaded';
    return this.#nextReading().then(() => this.#judge(jws, source) ?? this.#unknown());
  }

  /** Reads the keys at once and then at intervals, and sooner when a token needs it. Only a bug makes it throw. */
  run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await this.#read(signal);
      if (this.#waiting.size === 0) await this.#pause.sleep(this.#isFailing ? RETRY_MS : EVERY_MS, signal);
    }
    this.#tellWaiting();
  };

  /** Returns `undefined` when none of our keys has the name. */
  #judge(jws: CompactJws, source: string): SignatureVerdict | Promise<SignatureVerdict> | undefined {
    const isSigned = this.#published && isSignedByOne(this.#published, jws);
    if (isSigned === undefined) return undefined;
    if (typeof isSigned === 'function') return this.#slow.check(source, isSigned);
    return isSigned ? 'good' : 'bad';
  }

  /**
   * The verdict for an unknown key: `bad` if the keys were just read, since it is none of the cluster's, else
   * `unavailable`.
   */
  #unknown = (): SignatureVerdict => (this.#readAt === this.#triedAt ? 'bad' : 'unavailable');

  #nextReading(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      this.#pause.end();
    });
  }

  #tellWaiting(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { read, clock } = this.#parts;
    const began = clock.monotonic();
    this.#triedAt = began;
    this.#isReading = true;
    try {
      this.#take(await read(signal));
      this.#readAt = began;
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    } finally {
      this.#isReading = false;
      this.#tellWaiting();
    }
  }

  #take(document: unknown): void {
    const { logger } = this.#parts;
    const published = parsePublishedKeys(document);
    if (!published) throw new Error('the cluster published no key that service account tokens can be checked with');
    if (this.#isFailing) logger.info('the service account keys of the cluster are read again');
    this.#isFailing = false;
    const text = JSON.stringify(document);
    if (text === this.#text) return;
    this.#text = text;
    this.#published = published;
    logger.info({ kids: [...published.keys.keys()] }, 'the service account keys of the cluster are in use');
    if (published.unfit.length > 0)
      logger.warn(
        { kids: published.unfit },
        'service account keys of the cluster cannot be used: their tokens are refused',
      );
  }

  #failed(error: unknown): void {
    const { logger } = this.#parts;
    if (!this.#isFailing) logger.warn({ err: error }, this.#published ? LAST_ONES_STAY : NONE_YET);
    this.#isFailing = true;
  }
}

const LAST_ONES_STAY = 'the service account keys of the cluster cannot be read: the last ones stay in use';
const NONE_YET =
  'the service account keys of the cluster cannot be read: it is asked about whatever looks like a token of its own';

/** The thread pool has four threads: two for password compares, and one for files and DNS. */
const AT_ONCE = 1;
/** At 2.5 ms each, the last one has its turn within 160 ms; later while the cores are busy. */
const MOST_SLOW_WAITING = 64;

/**
 * Verifies signatures that take milliseconds, fairly by source, because what anybody can send must not hold up the
 * event loop. Sources take turns, and a full queue takes the last place of the source that has the most.
 */
export class SlowSignatures {
  readonly #slots = new FairSlots({ count: AT_ONCE, waiting: MOST_SLOW_WAITING });

  /** `isSigned` does the work in the thread pool. Rejects only when it does. */
  async check(source: string, isSigned: () => Promise<boolean>): Promise<SignatureVerdict> {
    // A caller that has left does not give up its place: the place is free again within milliseconds.
    const outcome = await this.#slots.take(source, new AbortController().signal);
    if (outcome !== 'taken') return 'overloaded';
    try {
      return (await isSigned()) ? 'good' : 'bad';
    } finally {
      this.#slots.release(source);
    }
  }
}
