import type { Difference } from './role-plan.ts';

interface Seen {
  readonly since: number;
  /** Not before this time. */
  readonly from: number;
}

/** How long each difference between users and roles has lasted. Times are in milliseconds of the monotonic clock. */
export class LastingDifferences {
  #seen = new Map<string, Seen>();

  /** Takes the differences of now: forgets those that are settled. */
  observe(differences: readonly Difference[], now: number): void {
    const before = this.#seen;
    this.#seen = new Map(
      differences.map((difference) => {
        const key = keyOf(difference);
        return [key, before.get(key) ?? { since: now, from: now }];
      }),
    );
  }

  get isEmpty(): boolean {
    return this.#seen.size === 0;
  }

  /** Whether the difference has lasted for so long, and has not been put off. */
  isDue(difference: Difference, lastedMs: number, now: number): boolean {
    const seen = this.#seen.get(keyOf(difference));
    return seen !== undefined && now - seen.since >= lastedMs && now >= seen.from;
  }

  /** Puts differences off until `from`. */
  putOff(differences: readonly Difference[], from: number): void {
    for (const difference of differences) {
      const seen = this.#seen.get(keyOf(difference));
      if (seen) this.#seen.set(keyOf(difference), { ...seen, from });
    }
  }
}

const keyOf = ({ named, name, isMissing }: Difference): string => `${isMissing ? '+' : '-'}${named}/${name}`;
