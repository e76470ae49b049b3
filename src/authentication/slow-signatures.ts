import { FairSlots } from '../runtime/fair-slots.ts';
import type { SignatureVerdict } from './service-account-tokens.ts';

/** The thread pool has four threads: two for password compares, and one for files and DNS. */
const AT_ONCE = 1;
/** At 2.5 ms each, the last one has its turn within 160 ms; later while the cores are busy. */
const MOST_WAITING = 64;

/**
 * Verifies signatures that take milliseconds, fairly by source, because what anybody can send must not hold up the
 * event loop. Sources take turns, and a full queue takes the last place of the source that has the most.
 */
export class SlowSignatures {
  readonly #slots = new FairSlots({ count: AT_ONCE, waiting: MOST_WAITING });

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
