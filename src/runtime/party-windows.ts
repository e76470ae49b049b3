import type { Clock } from './clock.ts';

/**
 * Slow calls leave a party a quarter of its places: some are slow by nature, and a page of twelve of which half take 1.7 s is still
 * answered within the time that a call may wait. Calls that fail leave it one.
 */
const LEAST_WHEN_SLOW = 1 / 4;
/** A party whose only call at a time is one too many leaves the cluster alone for so long, or for as long as the cluster asks. */
const SHORTEST_HOLD_MS = 1_000;
/** Whoever waits for a turn waits longer than that, so that a hold alone refuses nobody. */
const LONGEST_HOLD_MS = 3_000;
/** Those that had trouble last; who is forgotten begins again as everybody does. */
const CAPACITY = 1_000;

export interface WindowLimits {
  /** Calls of one party at a time, at first and at most. */
  readonly first: number;
  readonly most: number;
}

interface Window {
  readonly size: number;
  /** How often it was cut: one cut is for all calls that began before it. */
  readonly cuts: number;
  /** Until then none is begun. */
  readonly heldUntil: number;
}

/**
 * How many calls each party may have under way to somebody whose room nobody knows: one more for each call that is answered, half as
 * many when its own calls fail or are slow (slow start, additive increase and multiplicative decrease, as each connection of TCP does
 * for itself: RFC 5681, 3.1). So nobody has to be found guilty: who asks much meets the trouble most often, and a trouble of one party is
 * its own.
 */
export class PartyWindows {
  readonly #clock: Clock;
  readonly #limits: WindowLimits;
  readonly #start: Window;
  /** Of parties that do not begin as everybody does, the last changed last. */
  readonly #windows = new Map<string, Window>();

  constructor(clock: Clock, limits: WindowLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#start = { size: limits.first, cuts: 0, heldUntil: Number.NEGATIVE_INFINITY };
  }

  /** Whether a party with so many calls under way may begin another one. */
  allows(party: string, underWay: number): boolean {
    const { size, heldUntil } = this.#of(party);
    return underWay < Math.floor(size) && this.#clock.monotonic() >= heldUntil;
  }

  /** Cuts so far. To be noted when a call begins. */
  cutsOf = (party: string): number => this.#of(party).cuts;

  answered(party: string): void {
    const window = this.#of(party);
    const growth = window.cuts > 0 ? 1 / window.size : 1;
    this.#set(party, { ...window, size: Math.min(this.#limits.most, window.size + growth) });
  }

  /** A call that was begun after so many cuts was slow. */
  slow(party: string, cuts: number): void {
    this.#cut(party, cuts, this.#limits.most * LEAST_WHEN_SLOW);
  }

  /** One failed; the cluster asks to be left alone for so long. Answers how long this party has to wait now, in ms. */
  failed(party: string, cuts: number, retryAfterMs: number): number {
    const wasLeast = this.#of(party).size < 2;
    this.#cut(party, cuts, 1);
    const holdMs = Math.min(LONGEST_HOLD_MS, Math.max(retryAfterMs, wasLeast ? SHORTEST_HOLD_MS : 0));
    const window = this.#of(party);
    this.#set(party, { ...window, heldUntil: Math.max(window.heldUntil, this.#clock.monotonic() + holdMs) });
    return holdMs;
  }

  #cut(party: string, cuts: number, least: number): void {
    const window = this.#of(party);
    if (cuts < window.cuts) return;
    const size = Math.min(window.size, Math.max(1, least, window.size / 2));
    this.#set(party, { ...window, cuts: window.cuts + 1, size });
  }

  #of = (party: string): Window => this.#windows.get(party) ?? this.#start;

  #set(party: string, window: Window): void {
    this.#windows.delete(party);
    this.#windows.set(party, window);
    const [oldest] = this.#windows.keys();
    if (this.#windows.size > CAPACITY && oldest !== undefined) this.#windows.delete(oldest);
  }
}
