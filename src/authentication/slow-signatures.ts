import { FairSlots } from '../runtime/fair-slots.ts';
import type { SignatureVerdict } from './service-account-tokens.ts';

/** The thread pool has four threads: passwords are compared in two, and files and DNS need one. */
const AT_ONCE = 1;
/** At 2.5 ms each the last one has its turn within 160 ms, more while the cores are busy. */
const MOST_WAITING = 64;

/**
 * Signatures whose verification takes milliseconds, by the source that they come from: what anybody can send must not hold the
 * event loop up. Sources take turns, and a full queue takes the last place of the one that has the most.
 */
export class SlowSignatures {
  readonly #slots = new FairSlots({ count: AT_ONCE, waiting: MOST_WAITING });

  /** `isSigned` finds out in the thread pool. Rejects only as it does. */
  async check(source: string, isSigned: () => Promise<boolean>): Promise<SignatureVerdict> {
    // Whoever has left does not give up the place: it is free again within milliseconds.
    const outcome = await this.#slots.take(source, new AbortController().signal);
    if (outcome !== 'taken') return 'overloaded';
    try {
      return (await isSigned()) ? 'good' : 'bad';
    } finally {
      this.#slots.release(source);
    }
  }
}
