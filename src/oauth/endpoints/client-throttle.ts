import type { Clock } from '../../runtime/clock.ts';
import { KnownGood } from '../../runtime/known-good.ts';
import { FailureThrottle, type ThrottleLimit } from '../../runtime/limits/failure-throttle.ts';
import { createTextDigest, type Random } from '../../runtime/random.ts';

export interface ClientThrottleOptions {
  /**
   * The limit on failures of one client id from one address. The default is ten a minute: once a wrong secret has been corrected, a
   * minute is short enough to wait, and 14,400 guesses a day do not find 16 random characters.
   */
  readonly client: ThrottleLimit;
  /**
   * The limit on failures from one address, over all client ids that have not succeeded there in the last day. The default is six
   * times as high: five clients with a wrong secret behind one proxy do not keep out a sixth that comes for the first time.
   */
  readonly address: ThrottleLimit;
}

/** A client id, configured or not, and the address of the request. */
export interface ClientAttempt {
  readonly name: string;
  /** The normalised address. */
  readonly source: string;
}

/**
 * Limits guesses of client secrets without locking a client out. Failures at one address do not count against the same
 * client at another address. At an address where a client succeeded in the last day, only that client's own failures count against
 * it, and a long secret is accepted even while the client is throttled.
 */
export class ClientThrottle {
  readonly #byPair: FailureThrottle;
  readonly #byAddress: FailureThrottle;
  readonly #knownGood: KnownGood;
  readonly #digest: (text: string) => string;

  constructor(options: ClientThrottleOptions, { clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#byPair = new FailureThrottle(options.client, clock);
    this.#byAddress = new FailureThrottle(options.address, clock);
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
   * Whether the client has succeeded at this address in the last day. Its right secret is then accepted although it is throttled, so
   * that others who send wrong secrets from the same address (a NAT, a proxy that is not trusted) cannot shut the client out.
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
   * Records a success. The bucket of the address stays as it is: otherwise a client with a secret of its own could go on guessing the
   * secrets of others.
   */
  succeeded(attempt: ClientAttempt): void {
    const pair = this.#pair(attempt);
    this.#byPair.empty(pair);
    this.#knownGood.add(pair);
  }

  /**
   * The key of a client at an address. It has the same length for every sent id, and takes the same time for a configured id as for
   * any other.
   */
  #pair({ name, source }: ClientAttempt): string {
    return this.#digest(`${source}\n${name}`);
  }
}
