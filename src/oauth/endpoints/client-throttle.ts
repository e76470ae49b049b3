import type { Clock } from '../../runtime/clock.ts';
import { type BucketOptions, FailureBuckets } from '../../runtime/failure-bucket.ts';
import { KnownGood } from '../../runtime/known-good.ts';
import { createTextDigest, type Random } from '../../runtime/random.ts';

export interface ClientThrottleOptions {
  /**
   * Failures of one client name from one address. Ten a minute by default: once a wrong secret has been corrected, a
   * minute is short enough to wait, and 14,400 guesses a day do not find 16 random characters.
   */
  readonly client: BucketOptions;
  /**
   * Failures from one address, over all client names that have not succeeded there lately. Six times as many by
   * default: five clients with a wrong secret behind one proxy do not keep out a sixth that comes for the first time.
   */
  readonly address: BucketOptions;
}

/** A client name, ours or not, and the address that it comes from. */
export interface ClientAttempt {
  readonly name: string;
  /** Normalised. */
  readonly source: string;
}

/**
 * Limits guesses of client secrets without locking a client out. Failures at one address do not count against the same
 * client at another address. Where a client succeeded in the last day, only its own failures count against it, and the
 * right secret is accepted even while it is throttled, if it is long.
 */
export class ClientThrottle {
  readonly #byPair: FailureBuckets;
  readonly #byAddress: FailureBuckets;
  readonly #knownGood: KnownGood;
  readonly #digest: (text: string) => string;

  constructor(options: ClientThrottleOptions, { clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#byPair = new FailureBuckets(options.client, clock);
    this.#byAddress = new FailureBuckets(options.address, clock);
    this.#knownGood = new KnownGood(clock);
    this.#digest = createTextDigest(random);
  }

  /** Milliseconds until this client may try again from this address; 0 when it may. */
  waitMs(attempt: ClientAttempt): number {
    const pair = this.#pair(attempt);
    const addressMs = this.#knownGood.has(pair) ? 0 : this.#byAddress.waitMs(attempt.source);
    return Math.max(this.#byPair.waitMs(pair), addressMs);
  }

  /**
   * Whether a right secret is accepted although the client is throttled: only at an address where it succeeded in the
   * last day. So others who send wrong secrets from the same address (a NAT, a proxy that is not trusted) cannot shut
   * the client out.
   */
  isKnownGood(attempt: ClientAttempt): boolean {
    return this.#knownGood.has(this.#pair(attempt));
  }

  failed(attempt: ClientAttempt): void {
    const pair = this.#pair(attempt);
    this.#byPair.add(pair);
    if (!this.#knownGood.has(pair)) this.#byAddress.add(attempt.source);
  }

  /**
   * Leaves the bucket of the address as it is. Otherwise a client with a secret of its own could go on guessing those
   * of others.
   */
  succeeded(attempt: ClientAttempt): void {
    const pair = this.#pair(attempt);
    this.#byPair.empty(pair);
    this.#knownGood.add(pair);
  }

  /**
   * The key of a client at an address. It has a fixed length, however long the sent name is, and takes the same time
   * for a name of ours as for any other.
   */
  #pair({ name, source }: ClientAttempt): string {
    return this.#digest(`${source}\n${name}`);
  }
}
