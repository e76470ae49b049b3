import type { Clock } from './clock.ts';

/** Calls are remembered for one to two of these: long enough to tell a flood from a page that opens, short enough to end with it. */
const WINDOW_MS = 1_000;

/** Who asked how often lately. Bounded by the calls of two seconds. */
export class RecentCalls {
  readonly #clock: Clock;
  #beganAt = Number.NEGATIVE_INFINITY;
  #now = new Map<string, number>();
  #before = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(party: string): void {
    this.#move();
    this.#now.set(party, (this.#now.get(party) ?? 0) + 1);
  }

  /** The party with the most calls of those that `isCandidate` names; it has `least` at least. */
  heaviest(least: number, isCandidate: (party: string) => boolean): string | undefined {
    this.#move();
    const parties = new Set([...this.#before.keys(), ...this.#now.keys()]);
    let found: string | undefined;
    let most = least - 1;
    for (const party of parties) {
      const calls = this.#countOf(party);
      if (calls <= most || !isCandidate(party)) continue;
      most = calls;
      found = party;
    }
    return found;
  }

  /** Of all parties. */
  get total(): number {
    this.#move();
    return [...this.#before.values(), ...this.#now.values()].reduce((sum, calls) => sum + calls, 0);
  }

  #countOf = (party: string): number => (this.#before.get(party) ?? 0) + (this.#now.get(party) ?? 0);

  #move(): void {
    const age = this.#clock.monotonic() - this.#beganAt;
    if (age < WINDOW_MS) return;
    this.#before = age < 2 * WINDOW_MS ? this.#now : new Map();
    this.#now = new Map();
    this.#beganAt = this.#clock.monotonic();
  }
}
